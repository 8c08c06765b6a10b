import { Injectable } from '@nestjs/common';
import { AgentStore, type ReleasedAgent } from '#engine-store';
import { Database } from '#entities';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { AuditStore } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import { notFound } from '../errors/api-error';

/** What administrators decide about the names of agents. */
@Injectable()
export class AgentNamesService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentStore,
    private readonly audit: AuditStore,
  ) {}

  /** Lets another API key or installation take a name over. @throws ApiError 404 when no agent has the name */
  release(principal: Principal, name: string, caller: HostAddress | null): Promise<ReleasedAgent> {
    const { organizationId } = principal;
    return this.database.transaction(async (tx) => {
      const released = await this.agents.release(tx, organizationId, name);
      if (!released) throw notFound(`No agent has connected as ${name}`);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'AGENT_RELEASED',
        resourceType: 'AGENT',
        resourceId: released.id,
        resourceName: released.name,
        details: { releasedUntil: released.releasedUntil.toISOString() },
      });
      return released;
    });
  }
}
