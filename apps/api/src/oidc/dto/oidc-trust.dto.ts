import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
  ValidateBy,
} from 'class-validator';
import { OIDC_PRESETS, type OidcPreset } from '#entities';
import { WORKLOAD_SCOPES, type WorkloadScope } from '#guards';
import type { OidcConditions } from '#tenant-store';
import { IsFlag } from '../../http/flag-fields';
import { mayBeAbsent } from '../../http/absent-fields';
import { IsLine, asId, HasOnlyVisibleCharacters } from '../../http/text-fields';
import { conditionsRefusal, MAX_CLAIMS, MAX_VALUE_LENGTH, MAX_VALUES } from '../conditions';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
const SCOPES_MESSAGE = `must hold only ${WORKLOAD_SCOPES.join(', ')}: the other scopes are for administrators and for hosts`;
const CONDITIONS = {
  type: 'object',
  additionalProperties: {
    type: 'array',
    items: { type: 'string', maxLength: MAX_VALUE_LENGTH },
    minItems: 1,
    maxItems: MAX_VALUES,
  },
  maxProperties: MAX_CLAIMS,
  example: { repository_id: ['74'], repository_owner_id: ['65'], environment: ['production'] },
} as const;

/** Property decorator: well-formed conditions. Whether they suffice depends on the preset. */
const AreConditions = (): PropertyDecorator =>
  ValidateBy({
    name: 'areConditions',
    validator: {
      validate: (value: unknown) => conditionsRefusal(value) === null,
      defaultMessage: (given) => conditionsRefusal(given?.value) ?? '',
    },
  });

export class CreateOidcTrustDto {
  @ApiProperty({
    example: 'Deploy to production',
    maxLength: 100,
    description: 'unique in the organization; its service user gets the same name',
  })
  @IsLine(100)
  name!: string;

  @ApiPropertyOptional({
    enum: OIDC_PRESETS,
    enumName: 'OidcPreset',
    default: 'CUSTOM',
    description: 'the CI system; it demands conditions with which no other project fits',
  })
  @mayBeAbsent()
  @IsIn(OIDC_PRESETS, { message: `must be one of ${OIDC_PRESETS.join(', ')}` })
  preset?: OidcPreset;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'https://gitlab.example.com',
    maxLength: 200,
    description:
      'exactly as in the iss claim; one that the operator allows (OIDC_ISSUERS). Left out: the public issuer of the preset',
  })
  @IsOptional()
  @HasOnlyVisibleCharacters()
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @IsString({ message: 'must be a string' })
  issuer?: string | null;

  @ApiProperty({
    ...CONDITIONS,
    description:
      'Claim: the allowed values, compared exactly. `*` is possible at the end of ref, workflow_ref and job_workflow_ref. ' +
      'GITHUB demands repository_id and repository_owner_id, and environment, ref or workflow_ref; GITLAB project_id, and ' +
      'ref_protected ["true"], or environment with environment_protected ["true"]; BUILDKITE organization_id and ' +
      'pipeline_id. **BUILDKITE lets in every branch that the pipeline builds, and CUSTOM every job that fits**: whoever ' +
      'may push a branch writes what its jobs do, so add what only trusted people decide',
  })
  @AreConditions()
  conditions!: OidcConditions;

  @ApiProperty({ enum: WORKLOAD_SCOPES, isArray: true, example: ['sessions:write', 'sessions:read'] })
  @ArrayNotEmpty({ message: 'must hold at least one scope' })
  @IsIn(WORKLOAD_SCOPES, { each: true, message: SCOPES_MESSAGE })
  @ArrayMaxSize(100, { message: 'must hold at most 100 scopes' })
  @IsArray({ message: 'must be an array of scopes' })
  scopes!: WorkloadScope[];

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    format: 'uuid',
    maxItems: 100,
    description: 'roles of the service user: they decide which resources its jobs reach',
  })
  @asId()
  @IsOptional()
  @IsUUID(undefined, { each: true, message: 'must hold only UUIDs' })
  @ArrayMaxSize(100, { message: 'must hold at most 100 roles' })
  @IsArray({ message: 'must be an array of UUIDs' })
  roleIds?: string[] | null;
}

export class UpdateOidcTrustDto {
  @ApiPropertyOptional({ example: 'Deploy to production', maxLength: 100 })
  @mayBeAbsent()
  @IsLine(100)
  name?: string;

  @ApiPropertyOptional({
    ...CONDITIONS,
    description: 'replaces all conditions; ends the trust’s access tokens',
  })
  @mayBeAbsent()
  @AreConditions()
  conditions?: OidcConditions;

  @ApiPropertyOptional({
    enum: WORKLOAD_SCOPES,
    isArray: true,
    example: ['sessions:write'],
    description: 'ends the trust’s access tokens',
  })
  @mayBeAbsent()
  @ArrayNotEmpty({ message: 'must hold at least one scope' })
  @IsIn(WORKLOAD_SCOPES, { each: true, message: SCOPES_MESSAGE })
  @ArrayMaxSize(100, { message: 'must hold at most 100 scopes' })
  @IsArray({ message: 'must be an array of scopes' })
  scopes?: WorkloadScope[];

  @ApiPropertyOptional({ description: 'false: no exchange, and its access tokens are invalid at once' })
  @mayBeAbsent()
  @IsFlag()
  isEnabled?: boolean;
}

export class OidcTrustDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Deploy to production' }) name!: string;
  @ApiProperty({ enum: OIDC_PRESETS, enumName: 'OidcPreset' }) preset!: OidcPreset;
  @ApiProperty({ example: 'https://token.actions.githubusercontent.com' }) issuer!: string;
  @ApiProperty({
    example: 'https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6',
    description: 'what jobs request their ID token for: it is worthless for any other organization',
  })
  audience!: string;
  @ApiProperty(CONDITIONS) conditions!: OidcConditions;
  @ApiProperty({ enum: WORKLOAD_SCOPES, isArray: true }) scopes!: string[];
  @ApiProperty() isEnabled!: boolean;
  @ApiProperty({
    type: [String],
    example: [],
    description:
      'why this trust would be refused today: it lets in more jobs than its preset should. Empty: it would not',
  })
  warnings!: string[];
  @ApiProperty({ format: 'uuid', description: 'the user that jobs act as; deleted with the trust' })
  serviceUserId!: string;
  @ApiProperty({ format: 'email', example: 'deploy-to-production@service.invalid' })
  serviceUserEmail!: string;
  @ApiProperty({ description: 'false: jobs are refused' }) isServiceUserActive!: boolean;
  @ApiProperty({ type: String, nullable: true, ...TIME, description: 'to the minute; null: never' })
  lastUsedAt!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}
