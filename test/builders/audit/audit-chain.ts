import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { AuditEntry } from '#entities';
import { TenantStores } from '#tenant-store';
import { asOrganizationId, type OrganizationId } from '#rules';
import { AuditSealer } from '../../../apps/worker/src/audit/audit-sealer';
import {
  ChainVerifier,
  type ChainReport,
  type KeptLink,
} from '../../../apps/worker/src/audit/chain-verifier';
import { ownDatabase } from '../../harness/database/own-database';
import { until } from '../../harness/until';

export const ENTRY: AuditEntry = {
  eventType: 'ROLE_CREATED',
  actorType: 'USER',
  actorId: randomUUID(),
  actorEmail: 'ada@example.com',
  ipAddress: '203.0.113.7',
  resourceType: 'ROLE',
  resourceId: randomUUID(),
  resourceName: 'Developers',
  details: { z: 1, a: { c: [1.5, 'é'], b: null } },
};

/** A database for each test of a `describe`, with the sealer and the verifier of the audit chain. */
export class AuditChainBench {
  readonly database = ownDatabase(16, { forEachTest: true });
  readonly stores = new TenantStores();

  sealer(): AuditSealer {
    return new AuditSealer(this.database, this.stores.auditChains, pino({ level: 'silent' }));
  }

  sql<Row>(statement: string, given: unknown[] = []): Promise<Row[]> {
    return this.database.autocommit.query(statement, given);
  }

  async write(organization: OrganizationId, count = 1): Promise<void> {
    for (let written = 0; written < count; written += 1) {
      const entry = { ...ENTRY, resourceName: `role ${written}` };
      await this.stores.audit.write(this.database.autocommit, organization, entry);
    }
  }

  /** Seals every record. Open transactions elsewhere on the server delay the newest ones. */
  sealAll(by = this.sealer(), batchSize = 1000): Promise<unknown> {
    return until('every record has its seal', async () => {
      await by.sealNext(batchSize);
      const [open] = await this.sql<{ open: number }>(
        'SELECT count(*)::int AS open FROM audit_records r WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.record_id = r.id)',
      );
      return open!.open === 0;
    });
  }

  verify(organization: OrganizationId, kept: KeptLink | null = null): Promise<ChainReport> {
    return new ChainVerifier(this.database, this.stores, () => undefined, { batchSize: 7 }).verify(
      organization,
      kept,
    );
  }

  /** Runs statements without triggers, as only the owner of the tables can. */
  tamper(...statements: [string, unknown[]?][]): Promise<void> {
    return this.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      for (const [statement, given] of statements) await tx.query(statement, given);
    });
  }

  /** A new organization with sealed records. */
  async chainOf(count: number): Promise<OrganizationId> {
    const organization = asOrganizationId(randomUUID());
    await this.write(organization, count);
    await this.sealAll();
    return organization;
  }
}
