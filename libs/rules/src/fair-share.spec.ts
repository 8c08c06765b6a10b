import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  property,
  record,
  subarray,
  uuid,
  type Arbitrary,
} from 'fast-check';
import { chooseFairly, type SlotUse } from './fair-share';

let made = 0;
const use = (organization: string, given: Partial<SlotUse> = {}): SlotUse => ({
  targetId: `target-${(made += 1)}`,
  provider: 'AWS',
  organizations: [organization],
  closing: false,
  deferrable: false,
  ...given,
});
const many = (count: number, organization: string, given: Partial<SlotUse> = {}): SlotUse[] =>
  Array.from({ length: count }, () => use(organization, given));
const heldBy = (uses: readonly SlotUse[], organization: string): number =>
  uses.filter(({ organizations }) => organizations.includes(organization)).length;

describe('chooseFairly: the share of an organization', () => {
  it('is half of the slots while it is alone and adds rules', () => {
    expect(chooseFairly(many(100, 'a'), [], 40)).toHaveLength(20);
  });

  it('is two thirds for removals, so that its additions leave room for them', () => {
    const running = chooseFairly(many(100, 'a'), [], 40);
    const closing = chooseFairly(many(100, 'a', { closing: true }), running, 40);
    expect(running.length + closing.length).toBe(27);
  });

  it('leaves slots for organizations that come later', () => {
    const hanging = chooseFairly(many(100, 'a', { closing: true, deferrable: true }), [], 40);
    expect(chooseFairly([use('b')], hanging, 40)).toHaveLength(1);
  });

  it('leaves a slot in the same provider, at any capacity', () => {
    for (let capacity = 3; capacity <= 60; capacity += 1) {
      const running = chooseFairly(many(100, 'a', { closing: true }), [], capacity);
      expect(chooseFairly([use('b')], running, capacity)).toHaveLength(1);
    }
  });

  it('is equal for all waiting organizations', () => {
    const chosen = chooseFairly([...many(100, 'a'), ...many(100, 'b'), ...many(100, 'c')], [], 40);
    const shares = ['a', 'b', 'c'].map((organization) => heldBy(chosen, organization));
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(9);
  });

  it('of a shared target is that of its organization with the fewest slots', () => {
    const running = chooseFairly(many(100, 'a'), [], 40);
    expect(chooseFairly([use('a', { organizations: ['a', 'b'] })], running, 40)).toHaveLength(1);
    expect(chooseFairly([use('a')], running, 40)).toHaveLength(0);
  });

  it('is at least one slot, even at capacity 1', () => {
    expect(chooseFairly(many(3, 'a'), [], 1)).toHaveLength(1);
  });
});

describe('chooseFairly: the order', () => {
  it('is removals first, then untried targets', () => {
    const [adding, tried, closing, closingAgain] = [
      use('a'),
      use('b', { deferrable: true }),
      use('c', { closing: true }),
      use('d', { closing: true, deferrable: true }),
    ];
    expect(chooseFairly([tried, adding, closingAgain, closing], [], 40)).toEqual([
      closing,
      closingAgain,
      adding,
      tried,
    ]);
  });

  it('is longest due first among equals', () => {
    const waiting = many(5, 'a');
    expect(chooseFairly(waiting, [], 40)).toEqual(waiting);
  });
});

it('gives deferrable targets half of the slots, over all organizations', () => {
  const stuck = Array.from({ length: 100 }, (_, index) =>
    use(`stuck-${index}`, { closing: true, deferrable: true }),
  );
  const running = chooseFairly(stuck, [], 40);
  expect(running).toHaveLength(20);
  expect(chooseFairly([use('b')], running, 40)).toHaveLength(1);
});

it('leaves slots for other providers', () => {
  const ofAws = Array.from({ length: 100 }, (_, index) => use(`organization-${index}`));
  const running = chooseFairly(ofAws, [], 40);
  expect(running).toHaveLength(35);
  expect(chooseFairly([use('b', { provider: 'GCP' })], running, 40)).toHaveLength(1);
});

const anyUse = record({
  targetId: uuid(),
  provider: constantFrom('AWS', 'GCP', 'AZURE'),
  organizations: subarray(['a', 'b', 'c', 'd', 'e']),
  closing: boolean(),
  deferrable: boolean(),
}) as Arbitrary<SlotUse>;

it('never exceeds the capacity, and starts something while all slots are free', () => {
  assert(
    property(
      array(anyUse, { maxLength: 60 }),
      array(anyUse, { maxLength: 30 }),
      integer({ min: 1, max: 50 }),
      (waiting, running, capacity) => {
        const chosen = chooseFairly(waiting, running, capacity);
        expect(new Set(chosen).size).toBe(chosen.length);
        expect(chosen.length).toBeLessThanOrEqual(Math.max(0, capacity - running.length));
        expect(chosen.length > 0 || waiting.length === 0 || running.length > 0).toBe(true);
      },
    ),
  );
});
