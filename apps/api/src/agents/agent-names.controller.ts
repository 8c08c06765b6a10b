import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
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
  @Operation(
    'Release an agent’s name to another API key or installation',
    { 200: ReleasedAgentDto, errors: [404] },
    'Valid for an hour. The serving agent continues until another one connects. Without a release, another key takes ' +
      'over only once the previous key is revoked or expired, and another installation after a minute without requests.',
  )
  @ApiParam({
    name: 'name',
    description: 'The name of the agent',
    schema: { type: 'string', pattern: AGENT_NAME.source, example: 'db-host-1' },
  })
  async release(
    @CurrentActor() actor: Actor,
    @Param('name', AgentNamePipe) name: string,
  ): Promise<ReleasedAgentDto> {
    return toReleasedAgent(await this.names.release(actor, name));
  }
}
