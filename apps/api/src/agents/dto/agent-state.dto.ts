import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { PROTOCOLS, type Protocol } from '#rules';
import { AtMost, inQuery, Optional, queryFlag, Required, string, wholeNumber } from '../../http/fields';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { TrafficDto } from '../../http/traffic.dto';
import { AGENT_NAME, AGENT_NAME_MESSAGE } from '../agent-name';

/** Identifies the agent on each of its requests. */
export class AgentIdentityDto {
  @Required(string(Matches(AGENT_NAME, { message: AGENT_NAME_MESSAGE })), {
    example: 'db-host-1',
    description: 'The host’s name in resourceIdentifier',
  })
  agent!: string;

  @Optional(string(Matches(/^[\w.:-]{1,64}$/, { message: 'must be 1 to 64 letters, digits or .:_-' })), {
    example: '2f1c6a0e-host',
    description:
      'Identifies the installation across restarts; default: the API key. Only one installation at a time serves a name',
  })
  instance?: string;
}

export class AgentStateQueryDto extends AgentIdentityDto {
  @Optional(string(AtMost(64)), {
    example: '41-3f9a0c1d2e3f4a5b6c7d8e9f0a1b2c3d',
    description: 'Version of the state that the caller has',
  })
  version?: string;

  @Optional(inQuery(wholeNumber(0, 30, 'of seconds')), {
    default: 0,
    description: 'How long to wait for a change while the state has the given version',
  })
  waitSeconds?: number;

  @Optional(queryFlag(), {
    default: false,
    description:
      'true: responds immediately and has no effects. The caller does not count as the agent of the host',
  })
  dryRun?: boolean;
}

@ApiSchema({ description: 'Who a rule is for, for the log of the host: a session or a static IP rule.' })
export class RuleHolderDto {
  @ApiProperty(ID_OR_NULL) sessionId!: string | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'ada@example.com',
    description: "The e-mail address of the session's user",
  })
  user!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'office', description: 'The label of the static IP rule' })
  label!: string | null;
}

@ApiSchema({ description: 'A rule that must be present.' })
export class AgentRuleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: '203.0.113.10', description: 'An address, or a range in CIDR notation' })
  ipAddress!: string;
  @ApiProperty({ enum: PROTOCOLS }) protocol!: Protocol;
  @ApiProperty({ type: [Number], example: [22], description: 'Empty: every port of the protocol' })
  ports!: number[];
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 3599.8,
    description:
      'Time from the response until the agent must remove the rule by itself; null: no planned end',
  })
  secondsLeft!: number | null;
  @ApiProperty({ description: 'true: a report that the rule is applied is awaited' })
  unconfirmed!: boolean;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 600,
    description:
      'The agent must remove the rule after this long without a response of the server; null: not for that reason',
  })
  maxSilenceSeconds!: number | null;
  @ApiProperty({ type: [RuleHolderDto], description: 'At most 5 of them; not part of the version' })
  holders!: readonly RuleHolderDto[];
}

@ApiSchema({
  description:
    'The complete desired state of the host. Everything not listed must be closed. Times are durations, not clock times.',
})
export class AgentStateDto {
  @ApiProperty({
    example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d',
    description: 'Changes exactly when there is something new to apply or to report',
  })
  version!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) serverTime!: string;
  @ApiProperty({
    type: [TrafficDto],
    description: 'The traffic of resources that were verified: closed except to the addresses of the rules',
  })
  guarded!: readonly TrafficDto[];
  @ApiProperty({
    type: [TrafficDto],
    description:
      'The traffic of resources that were never verified, without what is guarded: it stays as it is',
  })
  proposed!: readonly TrafficDto[];
  @ApiProperty({
    type: [TrafficDto],
    description: 'The part of guarded for which an administrator agreed that established connections are cut',
  })
  confirmed!: readonly TrafficDto[];
  @ApiProperty({
    type: [TrafficDto],
    description: 'Traffic that the host stops guarding. Listed until a report of the guard lacks it',
  })
  released!: readonly TrafficDto[];
  @ApiProperty({ type: [AgentRuleDto] }) rules!: readonly AgentRuleDto[];
  @ApiProperty({
    description:
      'true: the database was restored from a backup. Of the rules, those that the host has stay; none is opened, and the others are reported as REMOVED',
  })
  restored!: boolean;
}
