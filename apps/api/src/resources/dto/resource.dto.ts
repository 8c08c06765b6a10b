import { ApiProperty, ApiPropertyOptional, ApiSchema, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { DriverRegistry } from '#drivers';
import { DEFAULT_MAX_SILENCE_SECONDS, PROTOCOLS, PROVIDERS } from '#rules';
import { IsFlagInQuery, IsFlag } from '../../http/flag-fields';
import { LAST_PAGE } from '../../http/page-query.dto';
import { asId, HasNoHiddenCharacters, IsLine } from '../../http/text-fields';
import { nullAsAbsent } from '../../http/absent-fields';
import { knownFieldsOnly } from '../../http/known-fields';
import type { Protocol, Provider, TrafficConfig } from '#rules';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
const GCP_PRIORITY_MESSAGE = 'must be a whole number from 0 to 65535';
const PRIORITY_MESSAGE = 'must be a whole number from 100 to 4096';
const PORT_MESSAGE = 'must be a port from 1 to 65535';
const SILENCE_MESSAGE = 'must be a whole number of seconds from 60 to 86400, or null for no limit';

/** The resource types with an example identifier, by provider. */
function resourceTypeMessage(): string {
  return DriverRegistry.providers
    .map((provider) => {
      const types = Object.entries(DriverRegistry.facts(provider).resourceTypes);
      return `${provider}: ${types.map(([name, { identifier }]) => `${name} (\`${identifier.example}\`)`).join(', ')}`;
    })
    .join('; ');
}

@ApiSchema({
  description: 'The traffic to allow. With neither port nor ports: every port of the protocol.',
})
export class ResourceConfigDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 65535,
    example: 5432,
    description: 'Every port when ports is left out as well',
  })
  @nullAsAbsent()
  @IsOptional()
  @Min(1, { message: PORT_MESSAGE })
  @Max(65535, { message: PORT_MESSAGE })
  @IsInt({ message: PORT_MESSAGE })
  port?: number;

  @ApiPropertyOptional({ type: [Number], example: [80, 443], description: 'Instead of port' })
  @nullAsAbsent()
  @IsOptional()
  @ArrayNotEmpty({ message: 'must hold at least one port, or be left out' })
  @ArrayMaxSize(20, { message: 'must hold at most 20 ports' })
  @IsInt({ each: true, message: 'must hold ports from 1 to 65535' })
  @Min(1, { each: true, message: 'must hold ports from 1 to 65535' })
  @Max(65535, { each: true, message: 'must hold ports from 1 to 65535' })
  @IsArray({ message: 'must be an array of ports' })
  ports?: number[];

  @ApiPropertyOptional({ enum: PROTOCOLS, default: 'tcp' })
  @nullAsAbsent()
  @IsOptional()
  @IsIn(PROTOCOLS, { message: `must be one of ${PROTOCOLS.join(', ')}` })
  protocol?: Protocol;

  @ApiPropertyOptional({
    type: [String],
    example: ['database'],
    description: 'GCP: only instances with one of these network tags; left out: the whole network',
  })
  @nullAsAbsent()
  @IsOptional()
  @ArrayNotEmpty({ message: 'must hold at least one network tag, or be left out' })
  @ArrayMaxSize(70, { message: 'must hold at most 70 network tags' })
  @Matches(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, {
    each: true,
    message: 'must hold network tags: lowercase letters, digits and hyphens, 63 at most',
  })
  @IsString({ each: true, message: 'must hold network tags' })
  @IsArray({ message: 'must be an array of network tags' })
  targetTags?: string[];

  @ApiPropertyOptional({
    type: [String],
    example: ['database@production-123456.iam.gserviceaccount.com'],
    description: 'GCP: only instances that run as one of these service accounts. Instead of targetTags',
  })
  @nullAsAbsent()
  @IsOptional()
  @ArrayNotEmpty({ message: 'must hold at least one service account, or be left out' })
  @ArrayMaxSize(10, { message: 'must hold at most 10 service accounts' })
  @Matches(/^[a-z0-9-]{1,100}@[a-z0-9.-]{1,200}$/, {
    each: true,
    message: 'must hold e-mail addresses of service accounts',
  })
  @IsString({ each: true, message: 'must hold e-mail addresses of service accounts' })
  @IsArray({ message: 'must be an array of e-mail addresses of service accounts' })
  targetServiceAccounts?: string[];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 1000,
    description: 'GCP: the priority of the rules. A smaller number comes first',
  })
  @nullAsAbsent()
  @IsOptional()
  @Min(0, { message: GCP_PRIORITY_MESSAGE })
  @Max(65535, { message: GCP_PRIORITY_MESSAGE })
  @IsInt({ message: GCP_PRIORITY_MESSAGE })
  priority?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 100,
    maximum: 4096,
    default: 1000,
    description: 'AZURE: the first priority that rules may take',
  })
  @nullAsAbsent()
  @IsOptional()
  @Min(100, { message: PRIORITY_MESSAGE })
  @Max(4096, { message: PRIORITY_MESSAGE })
  @IsInt({ message: PRIORITY_MESSAGE })
  priorityFrom?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 100,
    maximum: 4096,
    default: 3999,
    description: 'AZURE: the last priority that rules may take',
  })
  @nullAsAbsent()
  @IsOptional()
  @Min(100, { message: PRIORITY_MESSAGE })
  @Max(4096, { message: PRIORITY_MESSAGE })
  @IsInt({ message: PRIORITY_MESSAGE })
  priorityTo?: number;

  @ApiPropertyOptional({
    example: 'admin.example.com',
    description: 'VERCEL: guards requests to this host only; left out: to every host of the project',
  })
  @nullAsAbsent()
  @IsOptional()
  @Matches(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,62})(\.[a-z0-9][-a-z0-9]{0,62})*$/i, {
    message: 'must be a host name',
  })
  @IsString({ message: 'must be a string' })
  hostname?: string;

  @ApiPropertyOptional({
    example: '/admin',
    description: 'VERCEL: guards paths that begin with this only; left out: every path',
  })
  @nullAsAbsent()
  @IsOptional()
  @Matches(/^\/[\w.~!$&'()*+,;=:@%/-]{0,255}$/, { message: 'must be a path that begins with /' })
  @IsString({ message: 'must be a string' })
  pathPrefix?: string;

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 60,
    maximum: 86400,
    default: DEFAULT_MAX_SILENCE_SECONDS,
    description:
      'AGENT: the host closes what is open after this long without a response of the server; null: not for that reason',
  })
  @IsOptional()
  @Min(60, { message: SILENCE_MESSAGE })
  @Max(86400, { message: SILENCE_MESSAGE })
  @IsInt({ message: SILENCE_MESSAGE })
  maxSilenceSeconds?: number | null;
}

export class CreateResourceDto {
  @ApiProperty({ example: 'demo-database', maxLength: 200 })
  @IsLine(200)
  name!: string;

  @ApiProperty({ format: 'uuid' })
  @asId()
  @IsUUID(undefined, { message: 'must be a UUID' })
  credentialId!: string;

  @ApiProperty({ enum: PROVIDERS })
  @IsIn(PROVIDERS, { message: `must be one of ${PROVIDERS.join(', ')}` })
  provider!: Provider;

  @ApiProperty({ example: 'SECURITY_GROUP', description: resourceTypeMessage() })
  @IsString({ message: 'must be a string' })
  resourceType!: string;

  @ApiProperty({ example: 'sg-0123456789abcdef0', description: "The provider's id of the target" })
  @IsNotEmpty({ message: 'must not be empty' })
  @MaxLength(500, { message: 'must be at most 500 characters' })
  @HasNoHiddenCharacters()
  @IsString({ message: 'must be a string' })
  resourceIdentifier!: string;

  @ApiPropertyOptional({ example: 'eu-central-1', description: 'Required for AWS' })
  @IsOptional()
  @HasNoHiddenCharacters()
  @IsString({ message: 'must be a string' })
  region?: string;

  @ApiPropertyOptional({ type: ResourceConfigDto })
  @nullAsAbsent()
  @IsOptional()
  @Type(() => ResourceConfigDto)
  @ValidateNested()
  @knownFieldsOnly(() => ResourceConfigDto)
  @IsObject({ message: 'must be an object' })
  config?: ResourceConfigDto;
}

export class UpdateResourceDto extends PartialType(CreateResourceDto, { skipNullProperties: false }) {
  @ApiPropertyOptional({
    example: true,
    description: 'false: no new session may use it; live sessions continue',
  })
  @ValidateIf((_, value) => value !== undefined)
  @IsFlag()
  isActive?: boolean;

  @ApiPropertyOptional({
    default: false,
    description:
      'AGENT: true: the host stops guarding the ports that this request removes and no other resource of the host names',
  })
  @ValidateIf((_, value) => value !== undefined)
  @IsFlag()
  releasePorts?: boolean;
}

export class DeleteResourceQueryDto {
  @ApiPropertyOptional({
    default: false,
    description: 'AGENT: true: the host stops guarding the ports that no other resource of the host names',
  })
  @IsOptional()
  @IsFlagInQuery()
  releasePorts?: boolean;
}

export class AbandonResourceDto {
  @ApiProperty({ minLength: 1, maxLength: 500, example: 'the machine was destroyed' })
  @Length(1, 500, { message: 'must have 1 to 500 characters: why the target will never answer again' })
  @HasNoHiddenCharacters()
  @IsString({ message: 'must be a string' })
  reason!: string;
}

export class ResourceListQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'Counted from 0; without page and size everything is listed',
  })
  @IsOptional()
  @Type(() => Number)
  @Min(0, { message: 'must be 0 or more' })
  @Max(LAST_PAGE, { message: `must be at most ${LAST_PAGE}` })
  @IsInt({ message: 'must be a whole number' })
  page?: number;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, description: 'items a page' })
  @IsOptional()
  @Type(() => Number)
  @Min(1, { message: 'must be at least 1' })
  @Max(100, { message: 'must be at most 100' })
  @IsInt({ message: 'must be a whole number' })
  size?: number;

  @ApiPropertyOptional({ description: 'true: only resources of your roles, which your sessions may name' })
  @IsOptional()
  @IsFlagInQuery()
  assigned?: boolean;
}

export class ResourceDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'demo-database' }) name!: string;
  @ApiProperty({ format: 'uuid' }) credentialId!: string;
  @ApiProperty({ example: 'Production AWS' }) credentialName!: string;
  @ApiProperty({ enum: PROVIDERS }) provider!: Provider;
  @ApiProperty({ example: 'SECURITY_GROUP' }) resourceType!: string;
  @ApiProperty({ example: 'sg-0123456789abcdef0' }) resourceIdentifier!: string;
  @ApiPropertyOptional({ example: 'eu-central-1', description: 'Absent when unset' }) region?: string;
  @ApiProperty({ type: ResourceConfigDto }) config!: TrafficConfig;
  @ApiProperty({ description: 'false until verified' }) isActive!: boolean;
  @ApiProperty({ type: String, nullable: true, ...TIME }) lastVerifiedAt!: string | null;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

export class ResourceWithWarningsDto extends ResourceDto {
  @ApiProperty({
    type: [String],
    example: ['Addresses of sessions may be blocked by deny-partners'],
    description: 'What does not keep the resource from being used, and may not be intended; empty: nothing',
  })
  warnings!: readonly string[];
}
