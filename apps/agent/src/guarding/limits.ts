import { difference, intersection, withoutCovered, type Traffic } from '#rules';
import type { DesiredRule } from '../state/host-state';

/** What the host's own configuration lets the server decide. */
export interface Limits {
  /** the only traffic that is guarded at all; null: any */
  readonly only: readonly Traffic[] | null;
  /** traffic that is never guarded */
  readonly never: readonly Traffic[];
  /** canonical CIDRs of addresses that reach guarded ports at any time */
  readonly alwaysAllow: readonly string[];
}

export const NO_LIMITS: Limits = { only: null, never: [], alwaysAllow: [] };

export interface Refusal extends Traffic {
  readonly reason: string;
}

/** What of the traffic the host lets the server guard, and what it refuses. */
export function bounded(
  { only, never }: Limits,
  traffic: readonly Traffic[],
): { readonly allowed: readonly Traffic[]; readonly refused: readonly Refusal[] } {
  const inOnly = only ? intersection(traffic, only) : traffic;
  const allowed = withoutCovered(inOnly, never);
  return {
    allowed,
    refused: [
      ...refusals(
        only ? difference(traffic, inOnly) : [],
        'this host lets the server guard other ports only (--only)',
      ),
      ...refusals(difference(inOnly, allowed), 'this host never guards it (--never)'),
    ],
  };
}

const refusals = (traffic: readonly Traffic[], reason: string): Refusal[] =>
  traffic.map((entry) => ({ ...entry, reason }));

/**
 * The rule as far as the host lets the server decide, or the reason why it has no say about any of its ports. A port beyond
 * the limits is not guarded: the rule's address reaches it without the rule.
 */
export function boundedRule(limits: Limits, rule: DesiredRule): readonly DesiredRule[] | string {
  const { allowed, refused } = bounded(limits, [rule]);
  if (allowed.length > 0) return allowed.map((traffic) => ({ ...rule, ...traffic }));
  return `The host refuses the rule: ${refused[0]!.reason}`;
}

/** As rules of the host itself, without an end. */
export const alwaysAllowed = ({ alwaysAllow }: Limits): DesiredRule[] =>
  alwaysAllow.map((cidr) => ({
    id: `always-allow ${cidr}`,
    cidr,
    protocol: 'all',
    ports: [],
    deadline: Infinity,
    maxSilenceMs: Infinity,
    holders: [],
    unconfirmed: false,
  }));
