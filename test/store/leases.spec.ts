import { type Lease, LeaseStore, RuleStore } from '#engine-store';
import { HeldLease, LeaseLost, MACHINE_TIMING } from '#engine';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

const WRITE = { size: 1, isShort: false };

describe('A lease on a target', () => {
  const database = ownDatabase(12);
  const leases = new LeaseStore();

  let made = 0;
  const target = async (): Promise<string> => {
    made += 1;
    const [row] = await database.autocommit.query<{ id: string }[]>(
      `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', $1, 'SECURITY_GROUP', 'sg') RETURNING id`,
      [`key-${made}`],
    );
    return row!.id;
  };
  const rule = async (targetId: string, key = 'k'): Promise<string> => {
    const [row] = await database.autocommit.query<{ id: string }[]>(
      `INSERT INTO rules (target_id, key, address, protocol, ports, due_at)
       VALUES ($1, $2, '203.0.113.1/32', 'tcp', '22', now()) RETURNING id`,
      [targetId, key],
    );
    return row!.id;
  };
  /** @returns whether the result of a pass would be written */
  const locks = (lease: Lease): Promise<boolean> => database.transaction((tx) => leases.lock(tx, lease));

  it('is granted to one of many concurrent requests', async () => {
    const id = await target();
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => leases.take(database.autocommit, id, 10, false)),
    );
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
  });

  it('is available again when it expires, and its former owner can neither renew nor write', async () => {
    const id = await target();
    const paused = (await leases.take(database.autocommit, id, 0.05, false))!;
    const next = await until('the lease runs out', () => leases.take(database.autocommit, id, 10, false));
    expect(BigInt(next.generation)).toBe(BigInt(paused.generation) + 1n);
    expect(await leases.renew(database.autocommit, paused, 10)).toBe(false);
    expect(await leases.noteWrite(database.autocommit, paused, WRITE, null)).toBeNull();
    expect([await locks(paused), await locks(next)]).toEqual([false, true]);
  });

  it('records no intent once the lease has run out, even when no other worker has taken it', async () => {
    const id = await target();
    const lease = (await leases.take(database.autocommit, id, 10, false))!;
    await database.autocommit.query('UPDATE targets SET lease_until = now() WHERE id = $1', [id]);
    expect(await leases.noteWrite(database.autocommit, lease, WRITE, null)).toBeNull();
  });

  it('no write starts when the lease has less than half a second left', async () => {
    const id = await target();
    let now = 0;
    const timing = { ...MACHINE_TIMING, now: () => now };
    const held = await HeldLease.take(database, leases, timing, id, new AbortController().signal);
    const [{ ms }] = await database.autocommit.query<[{ ms: number }]>(
      'SELECT extract(epoch FROM lease_until - now())::float8 * 1000 AS ms FROM targets WHERE id = $1',
      [id],
    );
    now = ms / 2;
    held!.assertSafeToWrite(now, 1000, now);
    now = ms - 500;
    expect(() => held!.assertSafeToWrite(now, 1000, now)).toThrow(LeaseLost);
  });

  it('every rule of a list whose write is in doubt is in flight until the horizon', async () => {
    const id = await target();
    const other = await rule(id);
    const lease = (await leases.take(database.autocommit, id, 10, false))!;
    const tx = database.autocommit;
    const inFlightMs = async (): Promise<number> => {
      const due = await new RuleStore().due(tx, lease, 10);
      return due.rules.find(({ ruleId }) => ruleId === other)!.inFlightMs;
    };
    const answered = (await leases.noteWrite(tx, lease, WRITE, 300))!;
    expect(await inFlightMs()).toBeGreaterThan(250_000);
    await leases.confirmWrite(tx, lease, answered);
    expect(await inFlightMs()).toBe(0);
    await leases.noteWrite(tx, lease, WRITE, 300);
    const later = (await leases.noteWrite(tx, lease, WRITE, 590))!;
    await leases.confirmWrite(tx, lease, later);
    expect(await inFlightMs()).toBeLessThanOrEqual(300_000);
    expect(await inFlightMs()).toBeGreaterThan(250_000);
    await leases.noteWrite(tx, lease, WRITE, null);
    expect(await inFlightMs()).toBe(0);
  });

  it('a call recorded beyond the maximum in-flight time predates a clock change and is no longer in flight', async () => {
    const id = await target();
    const ruleId = await rule(id);
    const lease = (await leases.take(database.autocommit, id, 10, false))!;
    await database.autocommit.query(
      `UPDATE rules SET in_flight_until = now() + interval '1 hour' WHERE id = $1`,
      [ruleId],
    );
    const { rules } = await new RuleStore().due(database.autocommit, lease, 10);
    expect(rules[0]).toMatchObject({ inFlight: false, inDoubt: true });
  });
});
