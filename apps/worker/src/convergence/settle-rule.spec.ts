import type { DueRuleRow } from '#entities';
import { RULE_BACKOFF } from '#rules';
import { postponed, settlement } from './settle-rule';

const rule = (attempts: number): DueRuleRow => ({
  ruleId: `rule-${attempts}`,
  key: '203.0.113.1/32 tcp 22',
  wanted: false,
  mayOpen: false,
  inFlight: false,
  spec: { address: '203.0.113.1/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  state: 'present',
  isForeign: false,
  revision: 0,
  attempts,
  inFlightMs: 0,
  unheard: false,
  targetMissingMs: null,
  writtenWith: null,
  holders: [],
});

const RETRY = { ruleId: 'rule', kind: 'retry', message: null, unknown: false } as const;

it('what fails again is looked at later and later, and half a minute later at most', () => {
  const waits = [0, 1, 2, 30].map(
    (attempts) => settlement(rule(attempts), RETRY, false, null, 0.99).dueInMs!,
  );
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  expect(waits.at(-1)).toBeGreaterThan(RULE_BACKOFF.capMs / 2);
  expect(waits.at(-1)).toBeLessThanOrEqual(RULE_BACKOFF.capMs);
});

it('a cloud that asks for an hour is asked again after half a minute', () => {
  expect(settlement(rule(0), RETRY, false, 3_600_000, 0).dueInMs).toBe(RULE_BACKOFF.capMs);
});

it('what waits for the budget has not failed', () => {
  expect(postponed([rule(2)], 800)).toEqual([
    expect.objectContaining({ attempts: 2, dueInMs: 800, state: null, failed: false }),
  ]);
});

it('what was refused and never stood is known to be absent; what stood, or may be on its way, is not', () => {
  const states = [
    settlement({ ...rule(0), wanted: true, state: 'absent' }, RETRY, true, null, 0),
    settlement({ ...rule(0), wanted: true, state: 'present' }, RETRY, true, null, 0),
    settlement({ ...rule(0), wanted: true, state: 'absent' }, { ...RETRY, unknown: true }, true, null, 0),
    settlement({ ...rule(0), wanted: true, state: 'absent', inFlight: true }, RETRY, true, null, 0),
  ].map(({ state }) => state);
  expect(states).toEqual(['absent', 'unknown', 'unknown', 'unknown']);
});
