import type { Traffic } from '#rules';
import { alwaysAllowed, boundedRule, type Limits } from './guarding/limits';
import { guardElements, ruleElements, type Elements } from './nft/elements';
import { endOf, type DesiredRule } from './state/host-state';

/** The rules of a state as this host enforces them. */
export interface EnforcedRules {
  /** within the limits of the host, with the end that the host enforces; with those that the host adds by itself */
  readonly rules: readonly DesiredRule[];
  /** by rule id, why the host refuses it */
  readonly refused: ReadonlyMap<string, string>;
}

/** @param heardAt the server's last answer, in milliseconds of running time */
export function enforcedRules(rules: readonly DesiredRule[], limits: Limits, heardAt: number): EnforcedRules {
  const refused = new Map<string, string>();
  const isUnlimited = limits.only === null && limits.never.length === 0;
  const enforced = rules.flatMap((given) => {
    const rule = { ...given, deadline: endOf(given, heardAt) };
    const within = isUnlimited ? [rule] : boundedRule(limits, rule);
    if (typeof within !== 'string') return within;
    refused.set(rule.id, within);
    return [];
  });
  return { rules: [...alwaysAllowed(limits), ...enforced], refused };
}

/** The elements of the table: what is closed, what is exempt, and who is let in. */
export const desiredElements = (
  guarded: readonly Traffic[],
  rules: readonly DesiredRule[],
  { limits, now }: { readonly limits: Limits; readonly now: () => number },
): Elements => new Map([...guardElements(guarded, limits.never), ...ruleElements(rules, now()).elements]);
