import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { CUTS_CONNECTIONS, type Revocation } from '#drivers';
import { PROTOCOLS, PROVIDERS, type PortsPerRule, type Provider } from '#rules';

const CONFIG_FIELD_TYPES = ['integer', 'integers', 'text', 'texts'] as const;

const PORTS_PER_RULE: readonly PortsPerRule[] = ['one', 'many', 'none'];
const SCALARS = [{ type: 'integer' }, { type: 'string' }] as const;

@ApiSchema({ description: 'What a text must be. One that fits may still be refused, in words of its own.' })
export class TextFormDto {
  @ApiProperty({ example: 'must look like eu-central-1', description: "Goes after the field's name" })
  words!: string;
  @ApiProperty({
    example: '^[a-z]{2}-[a-z]+-\\d$',
    description: 'A regular expression of ECMAScript for the text without spaces around it',
  })
  pattern!: string;
  @ApiProperty({ example: '', description: 'Of the expression; `i`: upper and lower case are alike' })
  flags!: string;
  @ApiProperty({ example: 'eu-central-1', description: 'A text that fits' }) example!: string;
}

export class IdentifierFormDto extends TextFormDto {
  @ApiProperty({ example: 'the id of the security group' }) description!: string;
}

@ApiSchema({ description: 'A field of credentialData' })
export class CredentialFieldDto {
  @ApiProperty({ example: 'accessKeyId' }) name!: string;
  @ApiProperty({
    example: 'the id of an access key of an IAM user',
    description: 'A hint for who fills it in',
  })
  description!: string;
  @ApiProperty() required!: boolean;
  @ApiProperty({ description: 'false: administrators see it again, as one of the hints' }) secret!: boolean;
  @ApiProperty({ description: 'true: PATCH /credentials/{id} takes no other value than the present one' })
  fixed!: boolean;
  @ApiPropertyOptional({ type: TextFormDto, description: 'Absent: any text' }) form?: TextFormDto;
}

export class CredentialTypeDto {
  @ApiProperty({ example: 'ACCESS_KEY' }) credentialType!: string;
  @ApiProperty({ type: [CredentialFieldDto], description: 'None: credentialData is left out' })
  fields!: CredentialFieldDto[];
}

@ApiSchema({ description: 'A field of config' })
export class ConfigFieldDto {
  @ApiProperty({ example: 'port' }) name!: string;
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
    description: "What it is held to; each goes after the field's name",
  })
  words!: string[];
  @ApiPropertyOptional({ type: 'integer', example: 1, description: 'The lowest number, in a list of each' })
  minimum?: number;
  @ApiPropertyOptional({
    type: 'integer',
    example: 65535,
    description: 'The highest number, in a list of each',
  })
  maximum?: number;
  @ApiPropertyOptional({ type: 'integer', example: 20, description: 'What a list may hold at most' })
  mostItems?: number;
  @ApiPropertyOptional({ type: [String], example: PROTOCOLS, description: 'Nothing else is taken' })
  choices?: string[];
  @ApiPropertyOptional({
    example: '^/[a-z]+$',
    description: 'A regular expression of ECMAScript for the text, in a list for each',
  })
  pattern?: string;
  @ApiPropertyOptional({ example: '', description: 'Of the expression; absent like it' }) flags?: string;
}

export class ResourceTypeDto {
  @ApiProperty({ example: 'SECURITY_GROUP' }) resourceType!: string;
  @ApiProperty({ type: IdentifierFormDto, description: 'What resourceIdentifier must be' })
  identifier!: IdentifierFormDto;
  @ApiProperty({
    enum: [...PORTS_PER_RULE],
    description:
      'one: each port becomes a cloud rule of its own; many: one rule holds all of them; none: rules know no ports, ' +
      'an address reaches everything',
  })
  portsPerRule!: PortsPerRule;
  @ApiProperty({
    type: [ConfigFieldDto],
    description: 'What config may hold; fields of other types are refused',
  })
  config!: ConfigFieldDto[];
}

@ApiSchema({ description: 'How fast rules are written' })
export class ProviderLimitsDto {
  @ApiProperty({ type: 'integer', example: 500, description: 'Rules that are sent at once, at most' })
  rulesInOneBatch!: number;
  @ApiProperty({ type: 'integer', example: 50, description: 'Write calls one account makes in a burst' })
  writesInABurst!: number;
  @ApiProperty({ example: 5, description: 'Write calls one account makes over time' })
  writesPerSecond!: number;
  @ApiProperty({ description: 'false: one call takes a whole batch' }) callForEachRule!: boolean;
  @ApiProperty({ example: 5, description: 'After this a call counts as unanswered' })
  secondsForACall!: number;
}

@ApiSchema({
  description: 'What becomes of a connection that is already established when its address is taken out',
})
export class RevocationDto {
  @ApiProperty({ enum: [...CUTS_CONNECTIONS], example: 'no' })
  cutsConnections!: Revocation['cutsConnections'];
  @ApiProperty({
    example: 'Connections that are established live on.',
    description: 'Why, or on what it depends',
  })
  words!: string;
}

export class ProviderTypesDto {
  @ApiProperty({ enum: PROVIDERS }) provider!: Provider;
  @ApiProperty({
    description:
      'true: an agent on the host carries changes out; a resource is verified when its agent has connected. ' +
      'false: Drawbridge calls the provider',
  })
  needsAgent!: boolean;
  @ApiProperty({ type: [CredentialTypeDto] }) credentialTypes!: CredentialTypeDto[];
  @ApiProperty({ type: [ResourceTypeDto] }) resourceTypes!: ResourceTypeDto[];
  @ApiPropertyOptional({ type: TextFormDto, description: 'What region must be. Absent: it has no regions' })
  region?: TextFormDto;
  @ApiPropertyOptional({
    type: ProviderLimitsDto,
    description: 'Absent where an agent takes what there is at once',
  })
  limits?: ProviderLimitsDto;
  @ApiProperty({
    example: '{ "Version": "2012-10-17", "Statement": [] }',
    description: 'The least that has to be allowed, to be pasted where the provider asks for it',
  })
  policy!: string;
  @ApiProperty({ type: RevocationDto }) revocation!: RevocationDto;
}
