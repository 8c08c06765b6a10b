import type { DueRuleRow } from '#entities';
import { RULE_BACKOFF } from '#rules';
import { backoffOf, backoffOfAll, heldBack } from './settle-rule';

const rule = (attempts: number): DueRuleRow => ({
  ruleId: `rule-${attempts}`,
  key: '203.0.113.1/32 tcp 22',
  wanted: false,
  mayOpen: false,
  inFlight: false,
  spec: { address: '203.0.113.1/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  state: 'present',
  revision: 0,
  attempts,
  inFlightMs: 0,
  targetMissingMs: null,
  writtenWith: null,
  holders: [],
});

it('rules that fail in one look come back in one look', () => {
  expect(backoffOf(rule(3), 0.5)).toBe(backoffOf(rule(3), 0.5));
  expect(backoffOf(rule(3), 0.5)).toBeGreaterThan(backoffOf(rule(1), 0.5));
});

it('an object that cannot be read is left alone as long as the rule that failed most often', () => {
  const waits = Array.from({ length: 200 }, () => backoffOfAll([rule(0), rule(20)]));
  expect(Math.max(...waits)).toBeGreaterThan(RULE_BACKOFF.capMs / 2);
  expect(Math.max(...waits)).toBeLessThanOrEqual(RULE_BACKOFF.capMs);
});

it('what waits for the budget has not failed', () => {
  expect(heldBack([rule(2)], 800)).toEqual([
    expect.objectContaining({ attempts: 2, dueInMs: 800, state: null, failed: false }),
  ]);
});
