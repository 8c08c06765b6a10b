import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { AGENT_NAME, AgentNamePipe } from './agent-name';
import { toReleasedAgent } from './agent.mapper';
import { AgentNamesService } from './agent-names.service';
import { ReleasedAgentDto } from './dto/released-agent.dto';

@ApiTags('Agents')
@AdminOnly()
@Controller('agents')
export class AgentNamesController {
  constructor(private readonly names: AgentNamesService) {}

  @Post(':name/release')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Let another API key or installation take an agent’s name over',
    description:
      'For an hour. The agent that serves goes on until another one asks. Without it another key takes over only once ' +
      'the key before is revoked or expired, and another installation after a minute of silence.',
  })
  @ApiParam({
    name: 'name',
    description: 'The name of the agent',
    schema: { type: 'string', pattern: AGENT_NAME.source, example: 'db-host-1' },
  })
  @Answers({ 200: ReleasedAgentDto, errors: [400, 401, 403, 404] })
  async release(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Param('name', AgentNamePipe) name: string,
  ): Promise<ReleasedAgentDto> {
    return toReleasedAgent(await this.names.release(principal, name, caller));
  }
}
