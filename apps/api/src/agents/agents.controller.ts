import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import {
  AllowedWhileLockedDown,
  AdminOnly,
  AllowedWhileSuspended,
  CurrentPrincipal,
  KeyOnly,
  type Principal,
} from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { clientDisconnectSignal } from '../http/client-disconnect';
import { ListPage } from '../http/list-page';
import { CountedOnlyAs } from '../rate-limit/rate-limit.decorators';
import { AgentAdmissions } from './agent-admissions';
import { AGENT_NAME, AgentNamePipe } from './agent-name';
import { toAgentState, toReleasedAgent } from './agent.mapper';
import { AgentsService } from './agents.service';
import { AgentDto, AgentQueryDto } from './dto/agent.dto';
import { AgentReportDto, AgentVersionDto } from './dto/agent-report.dto';
import { AgentStateDto, AgentStateQueryDto } from './dto/agent-state.dto';
import { ReleasedAgentDto } from './dto/released-agent.dto';

const MAX_SOFTWARE_LENGTH = 100;

@ApiTags('Agents')
@AllowedWhileSuspended()
@Controller('agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentsService,
    private readonly admissions: AgentAdmissions,
  ) {}

  @Get()
  @AdminOnly()
  @Operation("List the agents of the organization's hosts", { 200: [AgentDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AgentQueryDto,
  ): Promise<ListPage<AgentDto>> {
    return new ListPage(query, await this.agents.list(principal, query));
  }

  @Get('state')
  @CountedOnlyAs(['agent'])
  @KeyOnly({ scope: 'agent:connect' })
  @Operation(
    'Get the desired state of a host',
    { 200: AgentStateDto, errors: [404, 409] },
    'Responds immediately when the version differs from the one given, otherwise on a change or at the end of the wait. ' +
      'A key serves the hosts it is bound to; an unbound key is bound to the first host it requests. 403 for any other ' +
      'host, 404 when no resource has the name, 409 while another installation serves the name (until a minute without ' +
      'requests from it) or another API key does (until it is revoked or an administrator releases the name). A request ends ' +
      'the earlier wait of the same installation. One request of a host is served at a time and another one waits; more ' +
      'are answered with 429.',
  )
  async state(
    @CurrentActor() actor: Actor,
    @Headers('user-agent') software: string | undefined,
    @Query() query: AgentStateQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AgentStateDto> {
    const disconnected = clientDisconnectSignal(response);
    return toAgentState(await this.agents.state(actor, query, softwareOf(software), disconnected));
  }

  @Post('report')
  @AllowedWhileLockedDown()
  @CountedOnlyAs(['agent'])
  @KeyOnly({ scope: 'agent:connect' })
  @Operation(
    'Report the result of applying the rules on the host',
    { 200: AgentVersionDto, errors: [404, 409] },
    'Applies only when it is about the latest version that was sent, and only to rules that have not changed since. An ' +
      'outdated report has no effect: the response has another version, whose state lists what is still to be reported.',
  )
  async report(
    @CurrentActor() actor: Actor,
    @Headers('user-agent') software: string | undefined,
    @Body() report: AgentReportDto,
  ): Promise<AgentVersionDto> {
    return { version: await this.agents.report(actor, report, softwareOf(software)) };
  }

  @Post(':name/release')
  @AdminOnly()
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
    return toReleasedAgent(await this.admissions.release(actor, name));
  }
}

const softwareOf = (header: string | undefined): string | null =>
  header?.slice(0, MAX_SOFTWARE_LENGTH) ?? null;
