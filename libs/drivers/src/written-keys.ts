import type { CloudTarget } from './provider-driver';

/**
 * Finds the key that a rule of ours was written with, by its recorded id or by its mark.
 * @returns undefined when it is no recorded rule of the target
 */
export function writtenKeys({
  claims,
  recordedKeys,
}: Pick<CloudTarget, 'claims' | 'recordedKeys'>): (
  providerRuleId: string,
  ownRuleId: string | null,
) => string | undefined {
  const byRuleId = new Map([...claims].map(([key, ruleId]) => [ruleId, key]));
  return (providerRuleId, ownRuleId) =>
    recordedKeys?.get(providerRuleId) ?? (ownRuleId === null ? undefined : byRuleId.get(ownRuleId));
}
