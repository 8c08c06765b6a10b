import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { BOTH_FAMILIES, CUTS_CONNECTIONS, type Family, type Revocation } from '#drivers';
import { PROTOCOLS, type PortsPerRule, type Provider } from '#rules';
import { PROVIDER_NAME } from '../../http/provider-name';

const CONFIG_FIELD_TYPES = ['integer', 'integers', 'text', 'texts'] as const;

const PORTS_PER_RULE: readonly PortsPerRule[] = ['one', 'many', 'none'];
const SCALARS = [{ type: 'integer' }, { type: 'string' }] as const;

@ApiSchema({
  description: 'The format of a text. A text that matches may still be refused with a message of its own.',
})
export class TextFormDto {
  @ApiProperty({ example: 'must look like eu-central-1', description: "To be shown after the field's name" })
  words!: string;
  @ApiProperty({
    example: '^[a-z]{2}-[a-z]+-\\d$',
    description: 'An ECMAScript regular expression for the trimmed text',
  })
  pattern!: string;
  @ApiProperty({ example: '', description: 'Flags of the expression; `i`: case-insensitive' })
  flags!: string;
  @ApiProperty({ example: 'eu-central-1', description: 'A text that matches' }) example!: string;
}

export class IdentifierFormDto extends TextFormDto {
  @ApiProperty({ example: 'the id of the security group' }) description!: string;
}

@ApiSchema({ description: 'A field of credentialData' })
export class CredentialFieldDto {
  @ApiProperty({ example: 'accessKeyId' }) name!: string;
  @ApiProperty({ example: 'Access key ID', description: 'The name for people' }) label!: string;
  @ApiProperty({
    example: 'the id of an access key of an IAM user',
    description: 'A hint for the person who fills it in',
  })
  description!: string;
  @ApiProperty() required!: boolean;
  @ApiProperty({ description: 'false: shown to administrators as one of the hints' }) secret!: boolean;
  @ApiProperty({ description: 'true: PATCH /credentials/{id} accepts only the current value' })
  fixed!: boolean;
  @ApiPropertyOptional({ type: TextFormDto, description: 'Absent: any text' }) form?: TextFormDto;
}

export class CredentialTypeDto {
  @ApiProperty({ example: 'ACCESS_KEY' }) credentialType!: string;
  @ApiProperty({ example: 'Access key', description: 'The name for people' }) label!: string;
  @ApiProperty({ type: [CredentialFieldDto], description: 'Empty: credentialData is left out' })
  fields!: CredentialFieldDto[];
  @ApiProperty({
    description: 'true: the cloud trusts tokens of this deployment’s issuer; no secret is stored',
  })
  needsIssuer!: boolean;
  @ApiPropertyOptional({
    example: "az ad app federated-credential create --id APP_ID --parameters '…'",
    description:
      'Commands to paste into a shell, so that the cloud trusts this service; with needsIssuer, where there is an issuer. Words in ' +
      'capitals stand for what is known when the credential is made: its own `setup` or `identity.setup` has them',
  })
  setup?: string;
}

@ApiSchema({ description: 'A field of config' })
export class ConfigFieldDto {
  @ApiProperty({ example: 'port' }) name!: string;
  @ApiProperty({ example: 'Port', description: 'The name for people' }) label!: string;
  @ApiProperty({ enum: CONFIG_FIELD_TYPES, description: 'integers, texts: a list of them' })
  type!: (typeof CONFIG_FIELD_TYPES)[number];
  @ApiProperty({ example: 'the port to open' }) description!: string;
  @ApiProperty({
    oneOf: [...SCALARS, { type: 'array', items: { oneOf: [...SCALARS] } }],
    example: 22,
  })
  example!: unknown;
  @ApiProperty({ example: false }) required!: boolean;
  @ApiProperty({
    type: [String],
    example: ['must be a port from 1 to 65535'],
    description: "Its constraints; each to be shown after the field's name",
  })
  words!: string[];
  @ApiPropertyOptional({
    type: 'integer',
    example: 1,
    description: 'The lowest number; in a list, of each item',
  })
  minimum?: number;
  @ApiPropertyOptional({
    type: 'integer',
    example: 65535,
    description: 'The highest number; in a list, of each item',
  })
  maximum?: number;
  @ApiPropertyOptional({ type: 'integer', example: 20, description: 'The maximum number of items in a list' })
  mostItems?: number;
  @ApiPropertyOptional({
    type: [String],
    example: PROTOCOLS,
    description: 'The only values that are accepted',
  })
  choices?: string[];
  @ApiPropertyOptional({
    example: '^/[a-z]+$',
    description: 'An ECMAScript regular expression for the text; in a list, for each item',
  })
  pattern?: string;
  @ApiPropertyOptional({ example: '', description: 'Flags of the expression; absent without it' })
  flags?: string;
}

@ApiSchema({ description: 'How fast rules are written' })
export class ProviderLimitsDto {
  @ApiProperty({ type: 'integer', example: 500, description: 'Maximum number of rules per batch' })
  rulesInOneBatch!: number;
  @ApiProperty({ type: 'integer', example: 50, description: 'Maximum write calls per account in a burst' })
  writesInABurst!: number;
  @ApiProperty({ example: 5, description: 'Sustained write calls per account and second' })
  writesPerSecond!: number;
  @ApiProperty({ description: 'false: one call covers a whole batch' }) callForEachRule!: boolean;
  @ApiProperty({ example: 5, description: 'The timeout of a call' })
  secondsForACall!: number;
}

@ApiSchema({
  description: 'What happens to established connections when their address is removed',
})
export class RevocationDto {
  @ApiProperty({ enum: [...CUTS_CONNECTIONS], example: 'no' })
  cutsConnections!: Revocation['cutsConnections'];
  @ApiProperty({
    example: 'Connections that are established live on.',
    description: 'The reason, or what it depends on',
  })
  words!: string;
}

@ApiSchema({
  description: 'How long after a rule is added or removed the provider acts on that, in seconds; 0: at once',
})
export class EffectDto {
  @ApiProperty({ type: 'integer', example: 60 }) usualSeconds!: number;
  @ApiProperty({ type: 'integer', example: 300 }) atMostSeconds!: number;
}

export class ResourceTypeDto {
  @ApiProperty({ example: 'SECURITY_GROUP' }) resourceType!: string;
  @ApiProperty({ example: 'Security group', description: 'The name for people' }) label!: string;
  @ApiProperty({ type: IdentifierFormDto, description: 'The format of resourceIdentifier' })
  identifier!: IdentifierFormDto;
  @ApiProperty({
    enum: [...PORTS_PER_RULE],
    description:
      'one: each port needs its own cloud rule; many: one rule covers all ports; none: rules have no ports, an address ' +
      'reaches everything',
  })
  portsPerRule!: PortsPerRule;
  @ApiProperty({
    type: [ConfigFieldDto],
    description: 'The fields of config; fields of other types are refused',
  })
  config!: ConfigFieldDto[];
  @ApiProperty({
    enum: [...BOTH_FAMILIES],
    isArray: true,
    description: 'The IP versions of addresses that a target may take; a target may take fewer',
  })
  families!: Family[];
  @ApiPropertyOptional({
    type: TextFormDto,
    description: 'The format of region. Absent: the region is in the identifier, or there are none',
  })
  region?: TextFormDto;
  @ApiPropertyOptional({
    type: ProviderLimitsDto,
    description: 'Absent when needsAgent is true: an agent applies all rules at once',
  })
  limits?: ProviderLimitsDto;
  @ApiProperty({
    example: '{ "Version": "2012-10-17", "Statement": [] }',
    description:
      'The least-privilege policy for this type alone, to be pasted where the provider asks for it; ' +
      '`GET /credentials/{id}/setup` has it for several types',
  })
  policy!: string;
  @ApiProperty({ type: RevocationDto }) revocation!: RevocationDto;
  @ApiProperty({ type: EffectDto }) effect!: EffectDto;
  @ApiProperty({
    type: 'integer',
    example: 5,
    description: 'How long a removal may take at the provider before it counts as late, in seconds',
  })
  closesWithinSeconds!: number;
  @ApiProperty({
    type: 'integer',
    example: 601_200,
    nullable: true,
    description:
      'How far ahead the provider ends a rule by itself, at most, in seconds: it is renewed before. Null: its rules stay until they are removed',
  })
  nativeExpirySeconds!: number | null;
}

export class ProviderTypesDto {
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty({ example: 'Google Cloud', description: 'The name for people' }) label!: string;
  @ApiProperty({
    description:
      'true: an agent on the host carries changes out; a resource is verified when its agent has connected. ' +
      'false: Drawbridge calls the provider',
  })
  needsAgent!: boolean;
  @ApiProperty({ type: [CredentialTypeDto] }) credentialTypes!: CredentialTypeDto[];
  @ApiProperty({ type: [ResourceTypeDto] }) resourceTypes!: ResourceTypeDto[];
  @ApiPropertyOptional({
    type: TextFormDto,
    deprecated: true,
    description: 'That of the first resource type',
  })
  region?: TextFormDto;
  @ApiPropertyOptional({
    type: ProviderLimitsDto,
    deprecated: true,
    description: 'Those of the first resource type',
  })
  limits?: ProviderLimitsDto;
  @ApiProperty({
    example: '{ "Version": "2012-10-17", "Statement": [] }',
    deprecated: true,
    description: 'That of the first resource type',
  })
  policy!: string;
  @ApiProperty({ type: RevocationDto, deprecated: true, description: 'That of the first resource type' })
  revocation!: RevocationDto;
}
