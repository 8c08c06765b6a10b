import { Database } from '#entities';
import { TenantStores } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { ChainVerifier } from '../../../apps/worker/src/audit/chain-verifier';
import type { AuditedAction, Evidence, Move } from './evidence';

type Query = <Row extends object>(statement: string, given?: readonly unknown[]) => Promise<Row[]>;

/** The part of the evidence that the database holds. */
export type StoredEvidence = Pick<
  Evidence,
  'moves' | 'targets' | 'owners' | 'audit' | 'brokenChains' | 'storedKeys'
>;

interface MoveRow {
  readonly id: string;
  readonly at: number;
  readonly xact: string;
  readonly seeded: boolean;
  readonly kind: Move['kind'];
  readonly rowId: string;
  readonly was: string | null;
  readonly now: string | null;
  readonly facts: object;
}

const ID_NAME = {
  session: 'sessionId',
  resource_ip: 'ipId',
  rule: 'ruleId',
  holder: 'ruleId',
  resource: 'resourceId',
} as const;

/**
 * @param databaseUrl for the verification of the audit chains
 * @param auditAfter sequence of the last audit record before the watch
 */
export async function storedEvidence(
  query: Query,
  databaseUrl: string,
  auditAfter: string,
): Promise<StoredEvidence> {
  const rows = await query<MoveRow>(
    `SELECT id, extract(epoch FROM at)::float8 * 1000 AS at, xact, seeded, kind, row_id AS "rowId", was, now, facts
     FROM chaos_moves ORDER BY id`,
  );
  const owners = await query<{ id: string; organizationId: OrganizationId }>(
    `SELECT id, organization_id AS "organizationId" FROM credentials
     UNION ALL SELECT id, organization_id FROM resources`,
  );
  return {
    moves: rows.map(moveOf),
    targets: await query('SELECT id, provider, identifier FROM targets'),
    owners: new Map(owners.map(({ id, organizationId }) => [id, organizationId])),
    audit: await query<AuditedAction>(
      `SELECT organization_id AS "organizationId", event_type AS "eventType", resource_type AS "resourceType",
         resource_id AS "resourceId", result,
         extract(epoch FROM timestamp)::float8 * 1000 AS at, error_message AS "errorMessage", details
       FROM audit_records WHERE sequence > $1 ORDER BY sequence`,
      [auditAfter],
    ),
    storedKeys: await query(
      `SELECT key, organization_id AS "organizationId", answer ->> 'id' AS "sessionId" FROM idempotency_keys
       WHERE answer IS NOT NULL`,
    ),
    brokenChains: await brokenChains(databaseUrl),
  };
}

const moveOf = ({ rowId, facts, id, ...row }: MoveRow): Move =>
  ({ ...row, ...facts, id: Number(id), [ID_NAME[row.kind]]: rowId }) as unknown as Move;

/** Broken audit chains, verified as by `drawbridge-admin audit verify`. */
async function brokenChains(databaseUrl: string): Promise<string[]> {
  const database = new Database({ url: databaseUrl, applicationName: 'chaos-watch', poolSize: 1 });
  await database.connect();
  try {
    const stores = new TenantStores();
    const broken: string[] = [];
    for (const { id, slug } of await stores.auditChains.organizations(database.autocommit, null)) {
      const report = await new ChainVerifier(database, stores, () => undefined).verify(id);
      if (report.broken !== null) broken.push(`the chain of ${slug} is broken: ${report.broken}`);
    }
    return broken;
  } finally {
    await database.close();
  }
}
