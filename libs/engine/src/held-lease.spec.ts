import type { Lease, LeaseStore } from '#engine-store';
import type { Transactions } from '#entities';
import { HeldLease, LeaseLost } from './held-lease';
import type { Timing } from './timing';

const SPACING = { usualMs: 1500, burstMs: 4000, burstSize: 20 };
const FEW = { count: 3, addsOnly: true };
const MANY = { count: 4, addsOnly: true };

let now: number;

beforeEach(() => {
  now = 1_000_000;
});

const taken = async (known: Partial<Lease> = {}): Promise<HeldLease> => {
  const lease = {
    targetId: 't',
    sinceLastWriteMs: null,
    lastWriteSize: 0,
    promptWrites: null,
    ...known,
  } as Lease;
  const leases = {
    take: () => Promise.resolve(lease),
    renew: () => Promise.resolve(true),
  } as unknown as LeaseStore;
  const timing = { now: () => now } as Timing;
  const database = { autocommit: null } as unknown as Transactions;
  return (await HeldLease.take(database, leases, timing, 't', new AbortController().signal))!;
};

describe('A write after a pause', () => {
  it('is not sent, although the lease was renewed, when the read before it is old', async () => {
    const held = await taken();
    const readAt = now;
    now += 20_000;
    await held.ensureHeld();
    expect(() => held.assertSafeToWrite(now, 5000, readAt)).toThrow(LeaseLost);
    held.assertSafeToWrite(now, 5000, now - 5000);
  });
});

describe('The spacing of writes to a target', () => {
  it('lets a few changes through at once, twice in a row', async () => {
    const held = await taken();
    for (const left of [1, 0]) {
      expect(held.msUntilNextWrite(SPACING, FEW)).toBe(0);
      expect(held.recordWrite(1, SPACING)).toBe(left);
    }
    expect(held.msUntilNextWrite(SPACING, FEW)).toBe(1500);
    now += 1500;
    expect(held.msUntilNextWrite(SPACING, FEW)).toBe(0);
  });

  it('collects more changes than that for the usual interval', async () => {
    const held = await taken();
    held.recordWrite(1, SPACING);
    now += 100;
    expect(held.msUntilNextWrite(SPACING, MANY)).toBe(1400);
  });

  it('lets additions wait longer after a burst, and removals not', async () => {
    const held = await taken();
    held.recordWrite(20, SPACING);
    expect(held.msUntilNextWrite(SPACING, MANY)).toBe(4000);
    expect(held.msUntilNextWrite(SPACING, { ...MANY, addsOnly: false })).toBe(1500);
  });

  it('goes on from what the worker before recorded', async () => {
    const spent = await taken({ sinceLastWriteMs: 300, lastWriteSize: 1, promptWrites: 0 });
    expect(spent.msUntilNextWrite(SPACING, FEW)).toBe(1200);
    const rested = await taken({ sinceLastWriteMs: 1500, lastWriteSize: 1, promptWrites: 0 });
    expect(rested.msUntilNextWrite(SPACING, FEW)).toBe(0);
    expect((await taken({ sinceLastWriteMs: 300, lastWriteSize: 1 })).msUntilNextWrite(SPACING, FEW)).toBe(0);
  });
});
