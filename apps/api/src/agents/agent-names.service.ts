import { Injectable } from '@nestjs/common';
import { AgentStore, type ReleasedAgent } from '#engine-store';
import { Database } from '#entities';
import { AuditStore } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import { notFound } from '../errors/api-error';
import type { Actor } from '../http/actor';

/** Administration of agent names. */
@Injectable()
export class AgentNamesService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentStore,
    private readonly audit: AuditStore,
  ) {}

  /** Allows another API key or installation to take over a name. @throws ApiError 404 when no agent has the name */
  release(actor: Actor, name: string): Promise<ReleasedAgent> {
    const { principal } = actor;
    const { organizationId } = principal;
    return this.database.transaction(async (tx) => {
      const released = await this.agents.release(tx, organizationId, name);
      if (!released) throw notFound(`No agent has connected as ${name}`);
      await this.audit.write(tx, organizationId, {
        ...auditActor(actor),
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
