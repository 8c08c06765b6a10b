import { ApiProperty } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { OIDC_PRESETS, type OidcPreset } from '#entities';
import { WORKLOAD_SCOPES, type WorkloadScope } from '#guards';
import { OIDC_TRUST_LIST, type OidcConditions } from '#tenant-store';
import { checkedBy } from '../../http/checked-by';
import {
  AtMost,
  flag,
  ids,
  line,
  MayBeAbsent,
  oneOf,
  Optional,
  Required,
  someScopes,
  string,
  TIME,
  type Kind,
} from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TIME_OR_NULL } from '../../http/nullable';
import { HasOnlyVisibleCharacters } from '../../http/text-fields';
import { conditionsRefusal, MAX_CLAIMS, MAX_VALUE_LENGTH, MAX_VALUES } from '../conditions';

const SCOPES = someScopes(
  WORKLOAD_SCOPES,
  'WorkloadScope',
  `must hold only ${WORKLOAD_SCOPES.join(', ')}: the other scopes are for administrators and for hosts`,
);
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

/** Well-formed conditions. Whether they suffice depends on the preset. */
const WELL_FORMED: Kind = {
  checks: [checkedBy('areConditions', conditionsRefusal)],
  doc: CONDITIONS,
};

export class OidcTrustQueryDto extends listQueryOf(OIDC_TRUST_LIST) {}

export class CreateOidcTrustDto {
  @Required(line(100), {
    example: 'Deploy to production',
    description: 'unique in the organization; its service user gets the same name',
  })
  name!: string;

  @MayBeAbsent(oneOf(OIDC_PRESETS, 'OidcPreset'), {
    default: 'CUSTOM',
    description: 'the CI system; it demands conditions with which no other project fits',
  })
  preset?: OidcPreset;

  @Optional(string(AtMost(200), HasOnlyVisibleCharacters()), {
    nullable: true,
    example: 'https://gitlab.example.com',
    maxLength: 200,
    description:
      'exactly as in the iss claim; one that the operator allows (OIDC_ISSUERS). Left out: the public issuer of the preset',
  })
  issuer?: string | null;

  @Required(WELL_FORMED, {
    description:
      'Claim: the allowed values, compared exactly. `*` is possible at the end of ref, workflow_ref and job_workflow_ref. ' +
      'GITHUB demands repository_id and repository_owner_id, and environment, ref or workflow_ref; GITLAB project_id, and ' +
      'ref_protected ["true"], or environment with environment_protected ["true"]; BUILDKITE organization_id and ' +
      'pipeline_id; HCP_TERRAFORM terraform_organization_id, terraform_workspace_id and terraform_run_phase. ' +
      '**BUILDKITE lets in every branch that the pipeline builds, and CUSTOM every job that fits**: anyone who ' +
      'may push a branch writes what its jobs do, so add what only trusted people decide',
  })
  conditions!: OidcConditions;

  @Required(SCOPES, { example: ['sessions:write', 'sessions:read'] })
  scopes!: WorkloadScope[];

  @Optional(ids(100, 'roles'), {
    nullable: true,
    description: 'roles of the service user: they decide which resources its jobs reach',
  })
  roleIds?: string[] | null;

  /** An answer shows it: another one is refused. */
  @Allow()
  audience?: unknown;
}

export class UpdateOidcTrustDto {
  @MayBeAbsent(line(100), { example: 'Deploy to production' })
  name?: string;

  @MayBeAbsent(WELL_FORMED, { description: 'replaces all conditions; ends the trust’s access tokens' })
  conditions?: OidcConditions;

  @MayBeAbsent(SCOPES, { example: ['sessions:write'], description: 'ends the trust’s access tokens' })
  scopes?: WorkloadScope[];

  @MayBeAbsent(flag(), { description: 'false: no exchange, and its access tokens are invalid at once' })
  isEnabled?: boolean;

  /** As in `CreateOidcTrustDto`. */
  @Allow()
  audience?: unknown;
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
  @ApiProperty({ enum: WORKLOAD_SCOPES, enumName: 'WorkloadScope', isArray: true }) scopes!: string[];
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
  @ApiProperty({ ...TIME_OR_NULL, description: 'to the minute; null: never' }) lastUsedAt!: Date | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}
