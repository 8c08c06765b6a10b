import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';
import { AtMost, flag, id, listOf, oneOf, Optional, Required, string, type Kind } from '../../http/fields';
import { HostGuardDto } from '../../http/host-guard.dto';
import { AgentIdentityDto } from './agent-state.dto';

const STATUSES = ['APPLIED', 'FAILED', 'REMOVED'] as const;

export class AgentResultDto {
  @Required(id(), { description: "The rule's id in the state" })
  ruleId!: string;

  @Required(oneOf(STATUSES), {
    description:
      'APPLIED: the rule was read back; FAILED: it could not be applied or removed; REMOVED: its absence was read back',
  })
  status!: (typeof STATUSES)[number];

  @Optional(string(AtMost(500)), { nullable: true, example: 'nft: Operation not permitted' })
  errorMessage?: string | null;
}

const GUARD: Kind = {
  checks: [IsObject({ message: 'must be an object' }), ValidateNested(), Type(() => HostGuardDto)],
  doc: { type: HostGuardDto },
};

export class AgentReportDto extends AgentIdentityDto {
  @Required(string(AtMost(64)), {
    example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d',
    description: 'Version of the state that the report is about',
  })
  version!: string;

  @Required(listOf(AgentResultDto, 1000, 'results'))
  results!: AgentResultDto[];

  @Optional(flag(), {
    default: false,
    description:
      'true: the host has no rules besides those of the state. Settles rules that the agent has forgotten or never knew',
  })
  cleared?: boolean;

  @Optional(GUARD, {
    description: 'What the host guards now, whatever the version. Absent: as reported before',
  })
  guard?: HostGuardDto | null;
}

@ApiSchema({ description: 'A version other than the reported one means that a newer state is available.' })
export class AgentVersionDto {
  @ApiProperty({ example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d' }) version!: string;
}
