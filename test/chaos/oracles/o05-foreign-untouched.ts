import { isDeepStrictEqual } from 'node:util';
import type { CloudRule, Evidence } from './evidence';
import type { Oracle } from './oracle';
import { asRule } from './history';
import { byOutsideHand, nameInCloud } from './rule-name';

export const foreignUntouched: Oracle = {
  id: 'O5',
  promise: 'rules of other hands are as they were, to the byte',
  violations(evidence: Evidence): string[] {
    const idOf = (rule: CloudRule): string => `${rule.provider} ${rule.target} ${rule.providerRuleId}`;
    const opened = evidence.timeline.filter(({ event }) => event === 'opened');
    const foreign = [...evidence.standingAtBegin, ...opened].filter((rule) => !rule.ours).map(asRule);
    const now = new Map(evidence.standing.map((rule) => [idOf(rule), asRule(rule)]));
    return foreign.flatMap((rule) => {
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
