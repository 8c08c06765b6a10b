import { isDeepStrictEqual } from 'node:util';
import type { CloudRule, Evidence } from './evidence';
import type { Oracle } from './oracle';
import { asRule } from './history';
import { wasChangedOutside, nameInCloud } from './rule-name';

export const unmanagedUntouched: Oracle = {
  id: 'O5',
  guarantee: 'unmanaged rules are not modified',
  violations(evidence: Evidence): string[] {
    const idOf = (rule: CloudRule): string => `${rule.provider} ${rule.target} ${rule.providerRuleId}`;
    const opened = evidence.timeline.filter(({ event }) => event === 'opened');
    const unmanaged = [...evidence.presentAtStart, ...opened].filter((rule) => !rule.ours).map(asRule);
    const now = new Map(evidence.presentRules.map((rule) => [idOf(rule), asRule(rule)]));
    return unmanaged.flatMap((rule) => {
      const name = nameInCloud(rule);
      if (wasChangedOutside(evidence.outsideChanges, name)) return [];
      const present = now.get(idOf(rule));
      if (!present) return [`${name} (${rule.providerRuleId}), not ours, was removed`];
      return isDeepStrictEqual(present, rule)
        ? []
        : [`${name} (${rule.providerRuleId}), not ours, was changed`];
    });
  },
};
