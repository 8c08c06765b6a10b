import { isDeepStrictEqual } from 'node:util';
import type { CloudRule, Evidence } from './evidence';
import type { Oracle } from './oracle';
import { asRule } from './history';
import { byOutsideHand, nameInCloud } from './rule-name';

export const unmanagedUntouched: Oracle = {
  id: 'O5',
  promise: 'unmanaged rules are as they were, to the byte',
  violations(evidence: Evidence): string[] {
    const idOf = (rule: CloudRule): string => `${rule.provider} ${rule.target} ${rule.providerRuleId}`;
    const opened = evidence.timeline.filter(({ event }) => event === 'opened');
    const unmanaged = [...evidence.standingAtBegin, ...opened].filter((rule) => !rule.ours).map(asRule);
    const now = new Map(evidence.standing.map((rule) => [idOf(rule), asRule(rule)]));
    return unmanaged.flatMap((rule) => {
      const name = nameInCloud(rule);
      if (byOutsideHand(evidence.outsideHands, name)) return [];
      const stands = now.get(idOf(rule));
      if (!stands) return [`${name} (${rule.providerRuleId}), not ours, was removed`];
      return isDeepStrictEqual(stands, rule)
        ? []
        : [`${name} (${rule.providerRuleId}), not ours, was changed`];
    });
  },
};
