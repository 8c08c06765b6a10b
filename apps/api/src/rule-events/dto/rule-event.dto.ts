import { ApiProperty } from '@nestjs/swagger';
import {
  HOLDER_KINDS,
  RULE_CAUSES,
  RULE_EVENT_KINDS,
  type HolderKind,
  type Provider,
  type RuleCause,
  type RuleEventKind,
} from '#rules';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { PROVIDER_NAME } from '../../http/provider-name';

const EDGE = {
  type: String,
  nullable: true,
  format: 'date-time',
  example: '2026-01-31T09:29:58.120Z',
} as const;

export class RuleTargetDto {
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'SECURITY_GROUP',
    description: 'null when only the identifier of the target is still known',
  })
  resourceType!: string | null;
  @ApiProperty({ example: 'sg-0123456789abcdef0' }) identifier!: string;
}

export class RuleEventDto {
  @ApiProperty({ format: 'uuid', example: '0b6f2c51-93de-4c0f-a1d7-52e4c80e6a13' }) id!: string;
  @ApiProperty({
    enum: RULE_EVENT_KINDS,
    enumName: 'RuleEventKind',
    example: 'CLOSED',
    description:
      'OPENED, CLOSED: first observed present, observed absent. HELD: the holder found the rule present. RELEASED: the ' +
      'holder is gone, and another holder or an unmanaged rule keeps the access. MISSING: it disappeared; RESTORED: it is present again. ADD_REFUSED, ' +
      'REMOVAL_REFUSED: the provider refused. FOUND: an orphan, a stale rule, or an unmanaged rule observed for the ' +
      'first time. CHANGED: another program changed our rule: it does something else, or more, and is written again. ' +
      'ABANDONED: given up by an administrator, or because its target was not found for hours',
  })
  kind!: RuleEventKind;
  @ApiProperty({ format: 'date-time', description: 'when it was recorded' }) at!: Date;
  @ApiProperty({ type: RuleTargetDto }) target!: RuleTargetDto;
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: '* for every port' }) ports!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'sgr-0123456789abcdef0' }) providerRuleId!: string | null;
  @ApiProperty({
    enum: RULE_CAUSES,
    enumName: 'RuleCause',
    nullable: true,
    example: 'SESSION_STOPPED',
    description: 'why the rule was added or removed',
  })
  cause!: RuleCause | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: "the provider's error message when it refused" })
  message!: string | null;
  @ApiProperty({ ...EDGE, description: 'the last observation of the state before' })
  lastObservedBefore!: Date | null;
  @ApiProperty({
    ...EDGE,
    example: '2026-01-31T09:29:59.480Z',
    description: 'the first observation of the new state',
  })
  firstObservedAfter!: Date | null;
  @ApiProperty({ enum: HOLDER_KINDS, enumName: 'HolderKind', example: 'SESSION' }) holderKind!: HolderKind;
  @ApiProperty({ ...ID_OR_NULL, description: 'null without a holder' }) resourceId!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'demo-database', description: 'the name at that time' })
  resourceName!: string | null;
  @ApiProperty(ID_OR_NULL) sessionId!: string | null;
  @ApiProperty({ ...ID_OR_NULL, example: null }) staticIpRuleId!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'ada@example.com' }) userEmail!: string | null;
  @ApiProperty({ ...ID_OR_NULL, description: "null when it is another organization's" })
  credentialId!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'for administrators; null for others' })
  workerId!: string | null;
  @ApiProperty({ ...ID_OR_NULL, description: 'for administrators; null for others' }) passId!: string | null;
}
