import { Body, Controller, Get, Headers, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AllowedWhileSuspended, KeyOnly } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { clientDisconnect } from '../http/client-disconnect';
import { sendErrorResponse } from '../http/send-error-response';
import { CountedOnlyAs } from '../rate-limit/rate-limit.decorators';
import { toAgentState } from './agent.mapper';
import { AgentsService } from './agents.service';
import { AgentReportDto, AgentVersionDto } from './dto/agent-report.dto';
import { AgentStateDto, AgentStateQueryDto } from './dto/agent-state.dto';

const MAX_SOFTWARE_LENGTH = 100;

@ApiTags('Agents')
@CountedOnlyAs(['agent', 'refusal'])
@KeyOnly({ scope: 'agent:connect' })
@AllowedWhileSuspended()
@Controller('agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get('state')
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
  state(
    @CurrentActor() actor: Actor,
    @Headers('user-agent') software: string | undefined,
    @Query() dto: AgentStateQueryDto,
    @Res() response: Response,
  ): void {
    const request = {
      actor,
      dto,
      software: softwareOf(software),
      wait: clientDisconnect(response),
    };
    // not awaited: while an agent waits, the framework would keep all that it built for the request in memory
    this.agents
      .state(request)
      .then((state) => response.json(toAgentState(state)))
      .catch((error: unknown) => sendErrorResponse(error, response.req, response));
  }

  @Post('report')
  @HttpCode(200)
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
}

const softwareOf = (header: string | undefined): string | null =>
  header?.slice(0, MAX_SOFTWARE_LENGTH) ?? null;
