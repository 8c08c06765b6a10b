import { EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import { StaticIpRuleStore } from '#tenant-store';
import { type LedgerOrganization, LedgerRows } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

describe('The end of a static IP rule', () => {
  const database = ownDatabase(4);
  const ledger = new LedgerRows(database);
  const { sweep } = new EngineStore();
  const statics = new StaticIpRuleStore();
  let own: LedgerOrganization;
  let id: string;
  let ruleId: string;

  beforeEach(async () => {
    await ledger.rows('DELETE FROM rule_holders');
    await ledger.rows('DELETE FROM static_ip_rules');
    await ledger.rows('DELETE FROM rules');
    own = await ledger.organization();
    const targetId = await ledger.target();
    ruleId = await ledger.rule(targetId, [new Date(0), new Date(0), new Date(0)]);
    await ledger.rows('UPDATE rules SET cause = NULL');
    const [made] = await ledger.rows<{ id: string }>(
      `WITH rule AS (INSERT INTO static_ip_rules (organization_id, label, ip_address, created_by_email, expires_at)
         VALUES ($1, 'Office', '203.0.113.1', 'a@example.com', now() + interval '1 hour') RETURNING *
       ), ip AS (INSERT INTO resource_ips (organization_id, static_ip_rule_id, resource_id, ip_version, ip_address, status)
         SELECT $1, id, $2, 4, ip_address, 'APPLIED' FROM rule RETURNING id
       ), holder AS (INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT $3, id FROM ip) SELECT id FROM rule`,
      [own.organizationId, await ledger.resource(own, targetId), ruleId],
    );
    id = made!.id;
  });

  /** Its end has passed for this long. */
  const isOverFor = (ago: string): Promise<unknown[]> =>
    ledger.rows(`UPDATE static_ip_rules SET expires_at = now() - interval '${ago}'`);
  const expire = async (tx: Tx): Promise<number> => (await sweep.expireStaticRules(tx, 10)).count;
  const extend = async (tx: Tx): Promise<{ hasEnded: boolean; isReopened: boolean }> => {
    const { hasEnded } = (await statics.lock(tx, own.organizationId, id))!;
    await statics.setEnd(tx, own.organizationId, id, new Date(Date.now() + 3_600_000));
    return { hasEnded, isReopened: await statics.reopen(tx, own.organizationId, id) };
  };
  const nextEndMs = async (): Promise<number | null> => (await sweep.outlook(database.autocommit)).nextEndMs;

  it('is known before it comes, comes once, and is known again when it is put off', async () => {
    expect(await nextEndMs()).toBeGreaterThan(3_500_000);
    await isOverFor('1 second');
    expect(await nextEndMs()).toBe(0);
    expect([await database.transaction(expire), await database.transaction(expire)]).toEqual([1, 0]);
    expect(await nextEndMs()).toBeNull();
    expect(await database.transaction(extend)).toEqual({ hasEnded: true, isReopened: true });
    expect(await nextEndMs()).toBeGreaterThan(3_500_000);
  });

  it('comes while it is extended: the extension wins, and the rule stays open', async () => {
    await isOverFor('1 second');
    const ended = await database.transaction(async (tx) => {
      await extend(tx);
      return database.transaction(expire);
    });
    expect([ended, await database.transaction(expire)]).toEqual([0, 0]);
    expect(await ledger.rows('SELECT FROM rules WHERE unwanted_since IS NOT NULL')).toEqual([]);
  });

  it('has come before the extension that waits for it, which opens the rule again', async () => {
    await isOverFor('1 second');
    let extended: ReturnType<typeof extend> | undefined;
    await database.transaction(async (tx) => {
      expect(await expire(tx)).toBe(1);
      extended = database.transaction(extend);
      await untilBlocked(database);
    });
    expect(await extended).toEqual({ hasEnded: true, isReopened: true });
  });

  it('was 90 days ago: it is deleted once nothing of it is open, and never while it is extended', async () => {
    const purge = async (): Promise<number> => {
      await sweep.purge(database.autocommit, 10);
      return (await ledger.rows('SELECT FROM static_ip_rules WHERE id = $1', [id])).length;
    };
    await isOverFor('91 days');
    await database.transaction(expire);
    expect(await purge()).toBe(1);
    await ledger.rows(`WITH gone AS (DELETE FROM rule_holders) UPDATE resource_ips SET status = 'REMOVED'`);
    await database.transaction(async (tx) => {
      await extend(tx);
      expect(await purge()).toBe(1);
    });
    expect(await purge()).toBe(1);
    await isOverFor('91 days');
    await database.transaction(expire);
    expect(await purge()).toBe(0);
  });
});
