import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsNotEmpty, IsObject, Length, ValidateNested } from 'class-validator';
import { DriverRegistry } from '#drivers';
import { MAX_RESOURCE_NAME, type Provider, type TrafficConfig } from '#rules';
import {
  AtMost,
  flag,
  id,
  line,
  MayBeAbsent,
  Misplaced,
  NullAsAbsent,
  Optional,
  Required,
  string,
  TIME,
  type Kind,
} from '../../http/fields';
import { HasNoHiddenCharacters } from '../../http/text-fields';
import { LABELS } from '../labels';
import { knownFieldsOnly } from '../../http/known-fields';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { PROVIDER_NAME, providerName } from '../../http/provider-name';
import { RoomDto } from '../../http/room.dto';
import { ResourceConfigDto } from './resource-config.dto';

/** The resource types with an example identifier, by provider. */
function resourceTypeMessage(): string {
  return DriverRegistry.providers
    .map((provider) => {
      const types = Object.entries(DriverRegistry.facts(provider).resourceTypes);
      return `${provider}: ${types.map(([name, { identifier }]) => `${name} (\`${identifier.example}\`)`).join(', ')}`;
    })
    .join('; ');
}

const CONFIG: Kind = {
  checks: [
    IsObject({ message: 'must be an object' }),
    knownFieldsOnly(() => ResourceConfigDto),
    ValidateNested(),
    Type(() => ResourceConfigDto),
  ],
  doc: { type: ResourceConfigDto },
};

const ENDPOINT = {
  example: 'db.example.com:5432',
  description: 'The host and port that people connect to; shown to them, and not used otherwise',
};

/** As the provider spells it; its form is checked with the credential. */
const ACCOUNT: Kind = string(
  HasNoHiddenCharacters(),
  AtMost(100),
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() || undefined : value,
  ),
);

const IN_CONFIG = 'belongs into config: without it, a resource opens every port';

export class CreateResourceDto {
  @Required(line(MAX_RESOURCE_NAME), { example: 'demo-database' })
  name!: string;

  @Required(id())
  credentialId!: string;

  @Required(providerName())
  provider!: Provider;

  @Required(string(), { example: 'SECURITY_GROUP', description: resourceTypeMessage() })
  resourceType!: string;

  @Required(string(HasNoHiddenCharacters(), AtMost(500), IsNotEmpty({ message: 'must not be empty' })), {
    example: 'sg-0123456789abcdef0',
    description: "The provider's id of the target",
  })
  resourceIdentifier!: string;

  @Optional(string(HasNoHiddenCharacters()), { example: 'eu-central-1', description: 'Required for AWS' })
  region?: string;

  @NullAsAbsent(ACCOUNT, {
    example: '123456789012',
    description:
      'The AWS account, the Azure subscription or the Google Cloud project that the resource is in. Required where the ' +
      'credential is for many; otherwise the one that the identifier or the credential names',
  })
  account?: string;

  @Optional(line(260), { nullable: true, ...ENDPOINT })
  endpoint?: string | null;

  @NullAsAbsent(CONFIG)
  config?: ResourceConfigDto;

  @NullAsAbsent(LABELS, {
    description:
      'Replaces all that were given. Roles may reach resources by them; members see them: no secrets',
  })
  labels?: Record<string, string>;

  @Misplaced(IN_CONFIG)
  port?: unknown;

  @Misplaced(IN_CONFIG)
  ports?: unknown;

  @Misplaced(IN_CONFIG)
  protocol?: unknown;
}

export class UpdateResourceDto extends PartialType(CreateResourceDto, { skipNullProperties: false }) {
  @MayBeAbsent(flag(), {
    example: true,
    description: 'false: no new session may use it; live sessions continue',
  })
  isActive?: boolean;

  @MayBeAbsent(flag(), {
    default: false,
    description:
      'AGENT: true: the host stops guarding the ports that this request removes and no other resource of the host names',
  })
  releasePorts?: boolean;
}

const REASON = string(
  HasNoHiddenCharacters(),
  Length(1, 500, { message: 'must have 1 to 500 characters: why the target will never answer again' }),
);

export class AbandonResourceDto {
  @Required(REASON, { minLength: 1, maxLength: 500, example: 'the machine was destroyed' })
  reason!: string;
}

export class ResourceDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'demo-database' }) name!: string;
  @ApiProperty({ format: 'uuid' }) credentialId!: string;
  @ApiProperty({ example: 'Production AWS' }) credentialName!: string;
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty({ example: 'SECURITY_GROUP' }) resourceType!: string;
  @ApiProperty({ example: 'sg-0123456789abcdef0' }) resourceIdentifier!: string;
  @ApiPropertyOptional({ example: 'eu-central-1', description: 'Absent when unset' }) region?: string;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: '123456789012',
    description: 'The account, subscription or project that it is in; null: not known',
  })
  account!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'Payments', description: 'Of the account' })
  accountLabel!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, ...ENDPOINT }) endpoint!: string | null;
  @ApiProperty({ type: ResourceConfigDto }) config!: TrafficConfig;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { env: 'prod', 'drawbridge/all': 'yes', 'drawbridge/provider': 'AWS' },
    description: 'What administrators have given, and what every resource has: drawbridge/…',
  })
  labels!: Readonly<Record<string, string>>;
  @ApiProperty({ description: 'false until verified' }) isActive!: boolean;
  @ApiProperty(TIME_OR_NULL) lastVerifiedAt!: Date | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: null,
    description:
      'Why the last verification failed; null: it did not, there was none, or the caller is no administrator',
  })
  verificationError!: string | null;
  @ApiProperty({
    type: [RoomDto],
    nullable: true,
    description:
      'How many rules its target has and may have, as last read; null: no limit is known, or no resource of the organization ' +
      'has proven write access to it',
  })
  room!: readonly RoomDto[] | null;
  @ApiPropertyOptional({
    type: 'integer',
    example: 8,
    description:
      'In answers to GET: the longest session that your roles allow here; of a session on several resources, the least ' +
      'counts. Absent: none of your roles has the resource',
  })
  maxSessionDurationHours?: number;
  @ApiPropertyOptional({
    type: 'integer',
    example: 1,
    description: 'As maxSessionDurationHours: the approvals by others that a session of yours needs here',
  })
  approvalsNeeded?: number;
  @ApiPropertyOptional({
    description: 'As maxSessionDurationHours: whether all of your roles ask for a reason',
  })
  needsReason?: boolean;
  @ApiPropertyOptional({
    description: 'As maxSessionDurationHours: whether you may do without the approvals, with breakGlass',
  })
  mayBreakGlass?: boolean;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}

/** What the caller's roles allow on a resource, and ask for. */
export type ResourceGrant = Required<
  Pick<ResourceDto, 'maxSessionDurationHours' | 'approvalsNeeded' | 'needsReason' | 'mayBreakGlass'>
>;

export class ResourceWithWarningsDto extends ResourceDto {
  @ApiProperty({
    type: [String],
    example: ['opens every TCP port'],
    description: 'What does not keep the resource from being used, and may not be intended; empty: nothing',
  })
  warnings!: readonly string[];
}
