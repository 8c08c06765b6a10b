import { Body, Controller, Get, Headers, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AllowedWhileSuspended, CurrentPrincipal, KeyOnly, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { hungUp } from '../http/hung-up';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { toAgentState } from './agent.mapper';
import { AgentsService } from './agents.service';
import { AgentReportDto, AgentVersionDto } from './dto/agent-report.dto';
import { AgentStateDto, AgentStateQueryDto } from './dto/agent-state.dto';

const MAX_SOFTWARE_LENGTH = 100;

@ApiTags('Agents')
@Uncounted()
@KeyOnly({ scope: 'agent:connect' })
@AllowedWhileSuspended()
@Controller('agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get('state')
  @ApiOperation({
    summary: 'All that a host is to let in',
    description:
      'At once when its version differs from the one given, else on a change or at the end of the wait. The key serves ' +
      'the hosts it is bound to, else the first one it asks for: 403 for another. 404 when no resource has the name. 409 ' +
      'while another installation serves under the name, until it has not been heard of for a minute, or another API ' +
      'key does, until that is revoked or an administrator releases the name.',
  })
  @Answers({ 200: AgentStateDto, errors: [400, 401, 403, 404, 409] })
  async state(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Headers('user-agent') software: string | undefined,
    @Query() asked: AgentStateQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AgentStateDto> {
    const origin = { caller, software: softwareOf(software) };
    return toAgentState(await this.agents.state(principal, asked, origin, hungUp(response)));
  }

  @Post('report')
  @HttpCode(200)
  @ApiOperation({
    summary: 'What became of the rules on the host',
    description:
      'Counts when it is about the version that was told last, and for every rule that has not changed since. Else it ' +
      'does no harm: the version in the answer is another one, and its state says what is still to be reported.',
  })
  @Answers({ 200: AgentVersionDto, errors: [400, 401, 403, 404, 409] })
  async report(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Headers('user-agent') software: string | undefined,
    @Body() report: AgentReportDto,
  ): Promise<AgentVersionDto> {
    const origin = { caller, software: softwareOf(software) };
    return { version: await this.agents.report(principal, report, origin) };
  }
}

const softwareOf = (header: string | undefined): string | null =>
  header?.slice(0, MAX_SOFTWARE_LENGTH) ?? null;
