import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { PROTOCOLS, type Protocol } from '#rules';
import { AGENT_NAME, AGENT_NAME_MESSAGE } from '../agent-name';

const PORTS = { example: [22] as number[], description: 'Empty: every port of the protocol' };

/** Who asks: on every request of an agent. */
export class AgentIdentityDto {
  @ApiProperty({ example: 'db-host-1', description: 'The name that resources call the host by' })
  @Matches(AGENT_NAME, { message: AGENT_NAME_MESSAGE })
  @IsString({ message: 'must be a string' })
  agent!: string;

  @ApiPropertyOptional({
    example: '2f1c6a0e-host',
    description:
      'Tells installations apart: the same for one, across its restarts. Left out, the API key does. One at a time serves under a name',
  })
  @IsOptional()
  @Matches(/^[\w.:-]{1,64}$/, { message: 'must be 1 to 64 letters, digits or .:_-' })
  @IsString({ message: 'must be a string' })
  instance?: string;
}

export class AgentStateQueryDto extends AgentIdentityDto {
  @ApiPropertyOptional({
    example: '41-3f9a0c1d2e3f4a5b6c7d8e9f0a1b2c3d',
    description: 'Of the state the caller keeps',
  })
  @IsOptional()
  @MaxLength(64, { message: 'must be at most 64 characters' })
  @IsString({ message: 'must be a string' })
  version?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 30,
    default: 0,
    description: 'While the state has the version given: how long to wait for another',
  })
  @IsOptional()
  @Type(() => Number)
  @Min(0, { message: 'must be at least 0' })
  @Max(30, { message: 'must be at most 30' })
  @IsInt({ message: 'must be a whole number of seconds' })
  waitSeconds?: number;

  @ApiPropertyOptional({
    default: false,
    description:
      'true: at once, for somebody who only looks. The caller does not count as the agent of the host',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean({ message: 'must be true or false' })
  dryRun?: boolean;
}

@ApiSchema({ description: 'Traffic that is to be closed to everybody but the addresses of the rules.' })
export class GuardedTrafficDto {
  @ApiProperty({ enum: PROTOCOLS }) protocol!: Protocol;
  @ApiProperty({ type: [Number], ...PORTS }) ports!: number[];
}

@ApiSchema({ description: 'An opening to keep.' })
export class AgentRuleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: '203.0.113.10', description: 'An address, or a range in CIDR notation' })
  ipAddress!: string;
  @ApiProperty({ enum: PROTOCOLS }) protocol!: Protocol;
  @ApiProperty({ type: [Number], ...PORTS }) ports!: number[];
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 3599.8,
    description: 'From the answer on, until it is to close by itself; null: it has no planned end',
  })
  secondsLeft!: number | null;
  @ApiProperty({ description: 'Somebody waits for a report that it stands; the others need none' })
  unconfirmed!: boolean;
}

@ApiSchema({
  description:
    'All that the host is to let in. What is not named is to be closed; durations, no clock times.',
})
export class AgentStateDto {
  @ApiProperty({
    example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d',
    description: 'Changes exactly when there is something new to keep or to report',
  })
  version!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) serverTime!: string;
  @ApiProperty({ type: [GuardedTrafficDto], description: "What the host's resources guard" })
  guarded!: GuardedTrafficDto[];
  @ApiProperty({ type: [AgentRuleDto] }) rules!: AgentRuleDto[];
}
