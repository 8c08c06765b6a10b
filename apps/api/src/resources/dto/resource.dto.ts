import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema, PartialType } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { DriverRegistry } from '#drivers';
import { DEFAULT_MAX_SILENCE_SECONDS, MAX_RESOURCE_NAME, PROTOCOLS } from '#rules';
import {
  AtMost,
  flag,
  id,
  integerIn,
  line,
  MayBeAbsent,
  Misplaced,
  NullAsAbsent,
  oneOf,
  Optional,
  Required,
  string,
  TIME,
  type Kind,
} from '../../http/fields';
import { HasNoHiddenCharacters } from '../../http/text-fields';
import { LABELS } from '../labels';
import { knownFieldsOnly } from '../../http/known-fields';
import type { Protocol, Provider, TrafficConfig } from '#rules';
import { PROVIDER_NAME, providerName } from '../../http/provider-name';

const PRIORITY = integerIn(100, 4096, 'must be a whole number from 100 to 4096');

const hintOfEach = (message: string): { each: true; message: string } => ({ each: true, message });

const PORT_IN_LIST = hintOfEach('must hold ports from 1 to 65535');

const PORTS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of ports' }),
    Max(65535, PORT_IN_LIST),
    Min(1, PORT_IN_LIST),
    IsInt(PORT_IN_LIST),
    ArrayMaxSize(20, { message: 'must hold at most 20 ports' }),
    ArrayNotEmpty({ message: 'must hold at least one port, or be left out' }),
  ],
  doc: { type: [Number] },
};

/** @param words the singular and the plural of an item, and of an item with its form */
const list = (
  maximum: number,
  pattern: RegExp,
  words: Record<'one' | 'many' | 'texts' | 'form', string>,
): Kind => ({
  checks: [
    IsArray({ message: `must be an array of ${words.texts}` }),
    IsString(hintOfEach(`must hold ${words.texts}`)),
    Matches(pattern, hintOfEach(`must hold ${words.form}`)),
    ArrayMaxSize(maximum, { message: `must hold at most ${maximum} ${words.many}` }),
    ArrayNotEmpty({ message: `must hold at least one ${words.one}, or be left out` }),
  ],
  doc: { type: [String] },
});

const NETWORK_TAGS = list(70, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, {
  one: 'network tag',
  many: 'network tags',
  texts: 'network tags',
  form: 'network tags: lowercase letters, digits and hyphens, 63 at most',
});

const SERVICE_ACCOUNTS = list(10, /^[a-z0-9-]{1,100}@[a-z0-9.-]{1,200}$/, {
  one: 'service account',
  many: 'service accounts',
  texts: 'e-mail addresses of service accounts',
  form: 'e-mail addresses of service accounts',
});

/** The resource types with an example identifier, by provider. */
function resourceTypeMessage(): string {
  return DriverRegistry.providers
    .map((provider) => {
      const types = Object.entries(DriverRegistry.facts(provider).resourceTypes);
      return `${provider}: ${types.map(([name, { identifier }]) => `${name} (\`${identifier.example}\`)`).join(', ')}`;
    })
    .join('; ');
}

/** Of port and ports, null is the same as left out only beside the other: alone, a number that is none would open every port. */
const NullBeside = (other: 'port' | 'ports', kind: Kind, doc: object): PropertyDecorator =>
  applyDecorators(
    Transform(({ value, obj }: { value: unknown; obj: Readonly<Record<string, unknown>> }) =>
      value === null && (obj[other] ?? null) !== null ? undefined : value,
    ),
    MayBeAbsent(kind, doc),
  );

@ApiSchema({
  description: 'The traffic to allow. With neither port nor ports: every port of the protocol.',
})
export class ResourceConfigDto {
  @NullBeside('ports', integerIn(1, 65535, 'must be a port from 1 to 65535'), {
    example: 5432,
    description: 'Every port when ports is left out as well',
  })
  port?: number;

  @NullBeside('port', PORTS, { example: [80, 443], description: 'Instead of port' })
  ports?: number[];

  @NullAsAbsent(oneOf(PROTOCOLS), { default: 'tcp' })
  protocol?: Protocol;

  @NullAsAbsent(NETWORK_TAGS, {
    example: ['database'],
    description: 'GCP: only instances with one of these network tags; left out: the whole network',
  })
  targetTags?: string[];

  @NullAsAbsent(SERVICE_ACCOUNTS, {
    example: ['database@production-123456.iam.gserviceaccount.com'],
    description: 'GCP: only instances that run as one of these service accounts. Instead of targetTags',
  })
  targetServiceAccounts?: string[];

  @NullAsAbsent(integerIn(0, 65535, 'must be a whole number from 0 to 65535'), {
    default: 1000,
    description: 'GCP: the priority of the rules. A smaller number comes first',
  })
  priority?: number;

  @NullAsAbsent(PRIORITY, { default: 1000, description: 'AZURE: the first priority that rules may take' })
  priorityFrom?: number;

  @NullAsAbsent(PRIORITY, { default: 3999, description: 'AZURE: the last priority that rules may take' })
  priorityTo?: number;

  @NullAsAbsent(
    string(
      Matches(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,62})(\.[a-z0-9][-a-z0-9]{0,62})*$/i, {
        message: 'must be a host name',
      }),
    ),
    {
      example: 'admin.example.com',
      description: 'VERCEL: guards requests to this host only; left out: to every host of the project',
    },
  )
  hostname?: string;

  @NullAsAbsent(
    string(Matches(/^\/[\w.~!$&'()*+,;=:@%/-]{0,255}$/, { message: 'must be a path that begins with /' })),
    {
      example: '/admin',
      description: 'VERCEL: guards paths that begin with this only; left out: every path',
    },
  )
  pathPrefix?: string;

  @Optional(
    integerIn(60, 86400, 'must be a whole number of seconds from 60 to 86400, or null for no limit'),
    {
      nullable: true,
      default: DEFAULT_MAX_SILENCE_SECONDS,
      description:
        'AGENT: the host closes what is open after this long without a response of the server; null: not for that reason',
    },
  )
  maxSilenceSeconds?: number | null;
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
  @ApiProperty({ type: String, nullable: true, ...ENDPOINT }) endpoint!: string | null;
  @ApiProperty({ type: ResourceConfigDto }) config!: TrafficConfig;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { env: 'prod', 'drawbridge/all': 'yes', 'drawbridge/provider': 'AWS' },
    description: 'What administrators have given, and what every resource has: drawbridge/…',
  })
  labels!: Readonly<Record<string, string>>;
  @ApiProperty({ description: 'false until verified' }) isActive!: boolean;
  @ApiProperty({ nullable: true, ...TIME }) lastVerifiedAt!: Date | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'Why the last verification failed; null: it did not, there was none, or the caller is no administrator',
  })
  verificationError!: string | null;
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
