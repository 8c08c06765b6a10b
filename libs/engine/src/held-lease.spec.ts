import type { DriverTraits } from '#drivers';
import type { Lease, LeaseStore } from '#engine-store';
import type { Transactions } from '#entities';
import { HeldLease, LeaseLost } from './held-lease';
import type { Timing } from './timing';

const SPACING = { usualMs: 1500, burstMs: 4000, burstSize: 20 };
const TRAITS = { writeSpacing: SPACING } as unknown as DriverTraits;
const [ADDITIONS, REMOVALS] = [true, false];

let now: number;

beforeEach(() => {
  now = 1_000_000;
});

const taken = async (known: Partial<Lease> = {}): Promise<HeldLease> => {
  const lease = {
    targetId: 't',
    sinceLastWriteMs: null,
    lastWriteSize: 0,
    isShort: false,
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

describe('The gap between writes to a target', () => {
  const written = async (size: number, isShort: boolean): Promise<HeldLease> => {
    const held = await taken();
    held.noteBudget({ isShort });
    expect(held.recordWrite(size)).toEqual({ size, isShort });
    return held;
  };

  it('is none while the account has writes left', async () => {
    expect((await written(20, false)).msUntilNextWrite(TRAITS, ADDITIONS)).toBe(0);
  });

  it('is the usual interval when the account is short of them, and longer for additions after a burst', async () => {
    expect((await written(1, true)).msUntilNextWrite(TRAITS, ADDITIONS)).toBe(1500);
    const held = await written(20, true);
    now += 100;
    expect(held.msUntilNextWrite(TRAITS, ADDITIONS)).toBe(3900);
    expect(held.msUntilNextWrite(TRAITS, REMOVALS)).toBe(1400);
  });

  it('is kept always where a write blocks the next one', async () => {
    const held = await written(1, false);
    expect(held.msUntilNextWrite({ ...TRAITS, oneWriteAtATime: true }, REMOVALS)).toBe(1500);
  });

  it('goes on from what the worker before recorded', async () => {
    const known = { sinceLastWriteMs: 300, lastWriteSize: 1 };
    const short = await taken({ ...known, isShort: true });
    expect(short.msUntilNextWrite(TRAITS, ADDITIONS)).toBe(1200);
    expect((await taken({ ...known, isShort: false })).msUntilNextWrite(TRAITS, ADDITIONS)).toBe(0);
  });
});
