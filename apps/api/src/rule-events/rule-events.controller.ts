import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { RuleEventQueryDto } from './dto/rule-event-query.dto';
import { RuleEventDto } from './dto/rule-event.dto';
import { toRuleEvent } from './rule-event.mapper';
import { RuleEventsService } from './rule-events.service';

const COUNT_LIMIT = 'X-Total-Count counts up to 10000; use from and to for older events.';

@ApiTags('Sessions')
@Controller('sessions')
export class SessionEventsController {
  constructor(private readonly events: RuleEventsService) {}

  @Get(':id/events')
  @SignedIn({ scope: 'audit:read' })
  @Operation(
    "List the observations of a session's rules, newest first",
    { 200: [RuleEventDto], errors: [404] },
    `For the session's owner, administrators and keys of administrators. ${COUNT_LIMIT}`,
  )
  async list(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: RuleEventQueryDto,
  ): Promise<ListPage<RuleEventDto>> {
    const events = await this.events.ofSession(principal, id, query);
    return new ListPage(query, events).map((row) => toRuleEvent(row, principal.isOrgAdmin));
  }
}

@ApiTags('Resources')
@Controller('resources')
export class ResourceEventsController {
  constructor(private readonly events: RuleEventsService) {}

  @Get(':id/events')
  @AdminOnly({ scope: 'audit:read' })
  @Operation(
    "List the observations of a resource's rules, newest first",
    { 200: [RuleEventDto], errors: [404] },
    'Includes rules without a holder on the resource’s current target (orphans, stale and unmanaged rules) since the ' +
      `resource was created and while it is verified. ${COUNT_LIMIT}`,
  )
  async list(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: RuleEventQueryDto,
  ): Promise<ListPage<RuleEventDto>> {
    const events = await this.events.ofResource(principal, id, query);
    return new ListPage(query, events).map((row) => toRuleEvent(row, principal.isOrgAdmin));
  }
}
