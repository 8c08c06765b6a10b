import { Injectable } from '@nestjs/common';
import { LedgerQueries, MAX_LEDGER_ITEMS, type RuleEventRow } from '#engine-store/port';
import { Database, type Slice, type Sliced } from '#entities';
import type { Principal } from '#guards';
import { forbidden } from '../errors/api-error';
import { timeRange } from '../http/time-range';
import { ResourcesService } from '../resources/resources.service';
import { SessionsService } from '../sessions/sessions.service';
import type { RuleEventQueryDto } from './dto/rule-event-query.dto';

/** Reads the ledger of a session or a resource. */
@Injectable()
export class RuleEventsService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerQueries,
    private readonly sessions: SessionsService,
    private readonly resources: ResourcesService,
  ) {}

  /** @throws ApiError 404 when it is not in the organization, 403 for another user's session or a non-administrator's key */
  async ofSession(principal: Principal, id: string, query: RuleEventQueryDto): Promise<Sliced<RuleEventRow>> {
    if (principal.kind === 'key' && !principal.isOrgAdmin) {
      throw forbidden('audit:read needs a key of an administrator, and the user of this key is none');
    }
    const session = await this.sessions.find(principal, id);
    const range = timeRange(query);
    return withinLedger(query, (slice) =>
      this.ledger.sessionEvents(this.database.autocommit, principal.organizationId, session, range, slice),
    );
  }

  /** @throws ApiError 404 when the resource is not in the organization */
  async ofResource(
    principal: Principal,
    id: string,
    query: RuleEventQueryDto,
  ): Promise<Sliced<RuleEventRow>> {
    const resource = await this.resources.find(principal, id);
    const range = timeRange(query);
    return withinLedger(query, (slice) =>
      this.ledger.resourceEvents(this.database.autocommit, principal.organizationId, resource, range, slice),
    );
  }
}

/** Reading a page costs all rows before it, so pages beyond the count limit are empty. */
async function withinLedger(
  { page, size }: Slice,
  read: (slice: Slice) => Promise<Sliced<RuleEventRow>>,
): Promise<Sliced<RuleEventRow>> {
  if ((page + 1) * size <= MAX_LEDGER_ITEMS) return read({ page, size });
  return { rows: [], total: (await read({ page: 0, size: 1 })).total };
}
