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
  patient: false,
  ...given,
});
const many = (count: number, organization: string, given: Partial<SlotUse> = {}): SlotUse[] =>
  Array.from({ length: count }, () => use(organization, given));
const heldBy = (uses: readonly SlotUse[], organization: string): number =>
  uses.filter(({ organizations }) => organizations.includes(organization)).length;

describe('The share of an organization', () => {
  it('is half of the slots while it is alone, and opens', () => {
    expect(chooseFairly(many(100, 'a'), [], 40)).toHaveLength(20);
  });

  it('is two thirds while it closes: what it opens leaves room for that', () => {
    const running = chooseFairly(many(100, 'a'), [], 40);
    const closing = chooseFairly(many(100, 'a', { closing: true }), running, 40);
    expect(running.length + closing.length).toBe(27);
  });

  it('leaves slots for one who comes later, whatever those before are waiting for', () => {
    const hanging = chooseFairly(many(100, 'a', { closing: true, patient: true }), [], 40);
    expect(chooseFairly([use('b')], hanging, 40)).toHaveLength(1);
  });

  it('leaves a slot in the same provider, with few slots as with many', () => {
    for (let capacity = 3; capacity <= 60; capacity += 1) {
      const running = chooseFairly(many(100, 'a', { closing: true }), [], capacity);
      expect(chooseFairly([use('b')], running, capacity)).toHaveLength(1);
    }
  });

  it('is equal for all who wait', () => {
    const chosen = chooseFairly([...many(100, 'a'), ...many(100, 'b'), ...many(100, 'c')], [], 40);
    const shares = ['a', 'b', 'c'].map((organization) => heldBy(chosen, organization));
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(9);
  });

  it('of an object that several name is that of the one who has least', () => {
    const running = chooseFairly(many(100, 'a'), [], 40);
    expect(chooseFairly([use('a', { organizations: ['a', 'b'] })], running, 40)).toHaveLength(1);
    expect(chooseFairly([use('a')], running, 40)).toHaveLength(0);
  });

  it('is at least one slot, also when there is only one', () => {
    expect(chooseFairly(many(3, 'a'), [], 1)).toHaveLength(1);
  });
});

describe('The order', () => {
  it('is closing first, then what was never tried', () => {
    const [opening, tried, closing, closingAgain] = [
      use('a'),
      use('b', { patient: true }),
      use('c', { closing: true }),
      use('d', { closing: true, patient: true }),
    ];
    expect(chooseFairly([tried, opening, closingAgain, closing], [], 40)).toEqual([
      closing,
      closingAgain,
      opening,
      tried,
    ]);
  });

  it('is the longest due first among equals', () => {
    const waiting = many(5, 'a');
    expect(chooseFairly(waiting, [], 40)).toEqual(waiting);
  });
});

it('what may wait takes half of the slots, however many organizations it is of', () => {
  const stuck = Array.from({ length: 100 }, (_, index) =>
    use(`stuck-${index}`, { closing: true, patient: true }),
  );
  const running = chooseFairly(stuck, [], 40);
  expect(running).toHaveLength(20);
  expect(chooseFairly([use('b')], running, 40)).toHaveLength(1);
});

it('one provider leaves slots for the others', () => {
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
  patient: boolean(),
}) as Arbitrary<SlotUse>;

it('never gives out more slots than there are, and nobody waits while all are free', () => {
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
