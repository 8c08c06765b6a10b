import { release } from '#engine-store';
import type { Tx } from '#entities';
import type { ResourceIpStatus, RemovalCause } from '#rules';
import { ownDatabase } from '../harness/database/own-database';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { release as releaseInMemory } from '../simulation/releases';
import { SeededRandom } from '../simulation/seeded-random';
import {
  Tables,
  type ResourceIpRow,
  type RuleHolderRow,
  type RuleRow,
  type SessionRow,
} from '../simulation/tables';

const WORLDS = 100;
const STATUSES: readonly ResourceIpStatus[] = ['PENDING', 'APPLIED', 'REMOVING', 'REMOVED', 'FAILED'];
const ms = (column: string): string => `extract(epoch FROM ${column})::float8 * 1000`;

/** The rows that a release reads and writes, as the simulation has them. */
interface Rows {
  readonly rules: RuleRow[];
  readonly sessions: SessionRow[];
  readonly ips: ResourceIpRow[];
  readonly holders: RuleHolderRow[];
}

const RULES = `SELECT id, target_id AS "targetId", revision, attempts, closing, cause, ${ms('due_at')} AS "dueAt",
  ${ms('unwanted_since')} AS "unwantedSince" FROM rules WHERE target_id = $1 ORDER BY id`;
const SESSIONS = `SELECT id, ${ms('expires_at')} AS "expiresAt", ${ms('lease_until')} AS "leaseUntil"
  FROM sessions WHERE organization_id = $1 ORDER BY id`;
const IPS = `SELECT id, session_id AS "sessionId", status, ${ms('released_at')} AS "releasedAt"
  FROM resource_ips WHERE organization_id = $1 ORDER BY id`;
const HOLDERS = `SELECT rule_id AS "ruleId", resource_ip_id AS "resourceIpId", ${ms('released_at')} AS "releasedAt",
  release_cause AS "releaseCause" FROM rule_holders WHERE rule_id IN (SELECT id FROM rules WHERE target_id = $1)
  ORDER BY rule_id, resource_ip_id`;

const readRows = async (tx: Tx, organizationId: string, targetId: string): Promise<Rows> => ({
  rules: await tx.query(RULES, [targetId]),
  sessions: await tx.query(SESSIONS, [organizationId]),
  ips: await tx.query(IPS, [organizationId]),
  holders: await tx.query(HOLDERS, [targetId]),
});

/** Random rules, sessions with and without a lease, addresses in every status, and holders of which some are released. */
async function fill(
  tx: Tx,
  random: SeededRandom,
  owner: LedgerOrganization & { readonly resourceId: string },
  targetId: string,
): Promise<void> {
  const rows = new LedgerRows({ autocommit: tx });
  const ruleIds: string[] = [];
  for (let made = 0; made < 4; made += 1) {
    const id = await rows.rule(targetId, []);
    ruleIds.push(id);
    await tx.query(
      `UPDATE rules SET attempts = $2, cause = $3, unwanted_since = now() + $4 * interval '1 s' WHERE id = $1`,
      [
        id,
        random.whole(0, 2),
        random.happens(0.3) ? 'STALE_RULE' : null,
        random.happens(0.3) ? -random.whole(1, 60) : null,
      ],
    );
  }
  for (let made = 0; made < 4; made += 1) {
    const sessionId = await rows.session(owner);
    await tx.query(
      `UPDATE sessions SET expires_at = now() + $2 * interval '1 s', lease_until = now() + $3 * interval '1 s' WHERE id = $1`,
      [sessionId, random.whole(-60, 60), random.happens(0.5) ? random.whole(-60, 60) : null],
    );
    const [ip] = await tx.query<[{ id: string }]>(
      `INSERT INTO resource_ips (organization_id, session_id, resource_id, resource_name, ip_version, ip_address, status)
       VALUES ($1, $2, $3, 'database', 4, '203.0.113.1', $4) RETURNING id`,
      [owner.organizationId, sessionId, owner.resourceId, random.pick(STATUSES)],
    );
    for (const ruleId of ruleIds.filter(() => random.happens(0.6)))
      await tx.query(
        `INSERT INTO rule_holders (rule_id, resource_ip_id, cause, released_at, release_cause)
         SELECT $1, $2, 'SESSION_STARTED', at, CASE WHEN at IS NOT NULL THEN 'ADD_REFUSED' END FROM (SELECT now() + $3 * interval '1 s' AS at) r`,
        [ruleId, ip.id, random.happens(0.2) ? -random.whole(1, 60) : null],
      );
  }
}

function inMemory({ rules, sessions, ips, holders }: Rows, now: number): Tables {
  const tables = new Tables(() => now);
  for (const rule of rules) tables.rules.set(rule.id, { ...rule });
  for (const session of sessions) tables.sessions.set(session.id, { ...session });
  for (const ip of ips) tables.resourceIps.set(ip.id, { ...ip });
  for (const holder of holders) tables.hold({ ...holder });
  return tables;
}

describe('A release of random sessions', () => {
  const database = ownDatabase(2);

  it('leaves the same rows in the database and in the simulation', async () => {
    let released = 0;
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const random = new SeededRandom(seed);
      await database.transaction(async (tx) => {
        const rows = new LedgerRows({ autocommit: tx });
        const owner = await rows.organization();
        const targetId = await rows.target();
        await fill(tx, random, { ...owner, resourceId: await rows.resource(owner, targetId) }, targetId);
        const before = await readRows(tx, owner.organizationId, targetId);
        const [{ now }] = await tx.query<[{ now: number }]>(`SELECT ${ms('now()')} AS now`);
        const sessionIds = before.sessions.map(({ id }) => id).filter(() => random.happens(0.5));
        const cause: RemovalCause = random.pick(['SESSION_STOPPED', 'SESSION_EXPIRED']);
        const tables = inMemory(before, now);
        const woken = releaseInMemory(
          tables,
          cause,
          tables.ipsWhere(({ sessionId }) => sessionIds.includes(sessionId ?? '')),
        );
        const targets = await release(tx, cause, { sessionIds });
        expect(targets.flatMap(({ targetIds }) => targetIds)).toEqual(woken);
        const after = await readRows(tx, owner.organizationId, targetId);
        expect({ seed, ...after }).toEqual({
          seed,
          sessions: before.sessions,
          rules: before.rules.map(({ id }) => tables.rules.get(id)),
          ips: before.ips.map(({ id }) => tables.resourceIps.get(id)),
          holders: before.holders.map(({ ruleId, resourceIpId }) => tables.holder(ruleId, resourceIpId)),
        });
        released += woken.length;
      });
    }
    expect(released).toBeGreaterThan(0);
  });
});
