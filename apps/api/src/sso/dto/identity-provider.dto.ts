import { ApiProperty, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, Matches } from 'class-validator';
import { Transform } from 'class-transformer';
import { tenantUrlRefusal } from '#drivers';
import { emailForm } from '#rules';
import { IDENTITY_PROVIDER_LIST } from '#tenant-store';
import { checkedBy } from '../../http/checked-by';
import {
  AtMost,
  flag,
  id,
  line,
  listOf,
  MayBeAbsent,
  NullAsAbsent,
  oneOf,
  opaque,
  Optional,
  Required,
  string,
  TIME,
  type Kind,
} from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { HasOnlyVisibleCharacters } from '../../http/text-fields';

const MAX_DOMAINS = 50;
const MAX_MAPPINGS = 500;
const MAX_URL = 500;
const DOMAIN = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/;

const DISCOVERY_DOCUMENT = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:[/?#].*)?$/;

/** Of the address of its discovery document what is before that. */
const ISSUER = string(
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().replace(DISCOVERY_DOCUMENT, '') : value,
  ),
  AtMost(MAX_URL),
  HasOnlyVisibleCharacters(),
  checkedBy('isIssuer', (value) => tenantUrlRefusal(String(value))),
);

/** Of an address in its one form. */
const domainForm = (domain: unknown): unknown =>
  typeof domain === 'string' ? emailForm(`x@${domain.trim()}`).slice(2) : domain;

const PATTERN = string(
  AtMost(200),
  HasOnlyVisibleCharacters(),
  checkedBy('isGroupPattern', (value) =>
    typeof value === 'string' && /^[^*]*\*[^*]*$/.test(value) && value.length > 3
      ? null
      : 'must have exactly one * and at least 3 other characters, such as drawbridge-*',
  ),
);

const DOMAINS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of domains' }),
    ArrayMaxSize(MAX_DOMAINS, { message: `must hold at most ${MAX_DOMAINS} domains` }),
    Matches(DOMAIN, { each: true, message: 'must hold only domains such as example.com' }),
    Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(domainForm) : value)),
  ],
  doc: { type: [String], maxItems: MAX_DOMAINS },
};

export class GroupMappingDto {
  @Required(line(200), { example: 'operations', description: 'as the issuer names it' })
  group!: string;

  @Optional(id(), { nullable: true, description: 'its members have this role' })
  roleId?: string | null;

  @MayBeAbsent(flag(), { description: 'true: its members are administrators; then without roleId' })
  isOrgAdmin?: boolean;
}

export class IdentityProviderQueryDto extends listQueryOf(IDENTITY_PROVIDER_LIST) {}

export class CreateIdentityProviderDto {
  @Required(line(100), {
    example: 'Example Ltd',
    description: 'as people see it; unique in the organization',
  })
  name!: string;

  @Required(ISSUER, {
    example: 'https://login.example.com',
    maxLength: MAX_URL,
    description:
      'as in the iss claim but for a slash at its end, or the address of its discovery document. http, or a private address: only what the operator allows (TENANT_URL_NETWORKS)',
  })
  issuer!: string;

  @Required(line(255), { example: 'drawbridge' })
  clientId!: string;

  @Required(opaque(1, 1000), { example: 'Q3J9bXk7…' })
  clientSecret!: string;

  @Optional(line(100), {
    nullable: true,
    example: 'groups',
    description:
      'the claim that lists a person’s groups, or the way to it inside another, such as realm_access.roles; null: groups are not used',
  })
  groupsClaim?: string | null;

  @Optional(PATTERN, {
    nullable: true,
    example: 'drawbridge-*',
    description:
      'with exactly one *: a group that fits gives the role whose name is the part under it, where there is one. It takes ' +
      'away only what it gave, and names no role of groupMappings; null: none',
  })
  groupPattern?: string | null;

  @MayBeAbsent(DOMAINS, {
    example: ['example.com'],
    description:
      'the issuer decides who has an address there: invited people with one join at their first sign-in. Others wait for ' +
      'an administrator to link them',
  })
  emailDomains?: string[];

  @MayBeAbsent(flag(), {
    description: 'true: unknown people with an address of emailDomains get an account at their first sign-in',
  })
  createUsers?: boolean;

  @MayBeAbsent(flag(), { description: 'true: a second factor that the issuer has seen counts as one here' })
  trustsSecondFactor?: boolean;

  @MayBeAbsent(flag(), { default: true, description: 'false: no one signs in with it, and its sign-ins end' })
  enabled?: boolean;

  @MayBeAbsent(listOf(GroupMappingDto, MAX_MAPPINGS, 'group mappings'), {
    description:
      'replaces all. Roles that are named here are given and taken by groups, at sign-in and every few minutes',
  })
  groupMappings?: GroupMappingDto[];
}

export class UpdateIdentityProviderDto extends PartialType(CreateIdentityProviderDto, {
  skipNullProperties: false,
}) {
  @NullAsAbsent(oneOf(['KEEP', 'REMOVE']), {
    description:
      'Required with another groupPattern where the former one has given roles: KEEP leaves them as an administrator’s; ' +
      'REMOVE takes them, and ends sessions that no role allows any more',
  })
  patternMemberships?: 'KEEP' | 'REMOVE';
}

export class StoredGroupMappingDto {
  @ApiProperty({ example: 'operations' }) group!: string;
  @ApiProperty(ID_OR_NULL) roleId!: string | null;
  @ApiProperty() isOrgAdmin!: boolean;
}

export class IdentityProviderDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Example Ltd' }) name!: string;
  @ApiProperty({ example: 'https://login.example.com' }) issuer!: string;
  @ApiProperty({ example: 'drawbridge' }) clientId!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'groups' }) groupsClaim!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'drawbridge-*' }) groupPattern!: string | null;
  @ApiProperty({ type: [String], example: ['example.com'] }) emailDomains!: string[];
  @ApiProperty() createUsers!: boolean;
  @ApiProperty() trustsSecondFactor!: boolean;
  @ApiProperty() enabled!: boolean;
  @ApiProperty({ type: [StoredGroupMappingDto] }) groupMappings!: StoredGroupMappingDto[];
  @ApiProperty({
    example: 'https://drawbridge.example.com/api/v1/auth/sso/example-ltd/callback',
    description: 'to be registered at the issuer; the same for all providers of the organization',
  })
  redirectUri!: string;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: null,
    description: 'why it could not be used last; null: it could',
  })
  lastError!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}

export class IssuerCheckDto {
  @ApiProperty({ example: 'discovery' }) name!: string;
  @ApiProperty() ok!: boolean;
  @ApiProperty({ example: 'its discovery document names another issuer' }) message!: string;
}

export class IdentityProviderTestDto {
  @ApiProperty({ description: 'every check that sign-ins need is passed' }) ok!: boolean;
  @ApiProperty({ type: [IssuerCheckDto] }) checks!: IssuerCheckDto[];
}

export class UserIdentityDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: '00u1a2b3c4', description: 'what the issuer calls the person' }) subject!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'grace@example.com', description: 'by the issuer' })
  email!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'Grace Hopper', description: 'by the issuer' })
  name!: string | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'ghopper',
    description: 'by the issuer (preferred_username, upn): for people to recognize, nothing is decided by it',
  })
  username!: string | null;
  @ApiProperty({ ...ID_OR_NULL, description: 'null: waits to be linked' }) userId!: string | null;
  @ApiProperty({ type: String, format: 'email', nullable: true }) userEmail!: string | null;
  @ApiProperty(TIME) lastSeenAt!: Date;
}

export class LinkIdentityDto {
  @Required(id(), { description: 'the user that the person is' })
  userId!: string;
}
