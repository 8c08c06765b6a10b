import { grouped } from './grouped';
import type { ObservedRule } from './provider';

/** A rule as it is recorded. */
export interface RecordedRule {
  readonly ruleId: string;
  /** `ruleKey` of its traffic */
  readonly key: string;
  /** the provider's id under which it was last observed as ours; undefined or null: it was not */
  readonly recordedId?: string | null;
}

/** Keys listed in one text. */
const MAX_LISTED = 5;

/** Of the observed rules of a target those that are recorded rules now, whatever they let in. */
export class OwnRules {
  private readonly byId: ReadonlyMap<string, ObservedRule[]>;
  private readonly byMark: ReadonlyMap<string | null, ObservedRule[]>;

  constructor(observed: readonly ObservedRule[]) {
    this.byId = grouped(observed, ({ providerRuleId }) => providerRuleId);
    this.byMark = grouped(observed, ({ ownRuleId }) => ownRuleId);
  }

  /** All that its provider rule lets in: the one under its recorded id, else those with its mark. */
  of({ ruleId, key, recordedId }: RecordedRule): readonly ObservedRule[] {
    const recorded = recordedId ? this.byId.get(recordedId) : undefined;
    if (recorded) return recorded;
    const marked = this.byMark.get(ruleId) ?? [];
    const same = marked.find((rule) => rule.key === key);
    return same ? this.byId.get(same.providerRuleId)! : marked;
  }

  /** What its provider rule does besides what was written, or instead, as a phrase; null: nothing, or there is none. */
  changeOf(rule: RecordedRule): string | null {
    const shown = this.of(rule);
    const others = shown.filter(({ key }) => key !== rule.key);
    const listed = others.slice(0, MAX_LISTED).map(({ key }) => key);
    const more = others.length > MAX_LISTED ? ', …' : '';
    const lets = `it lets in ${listed.join(', ')}${more}${others.length < shown.length ? ' too' : ''}`;
    const difference = shown.find((one) => one.difference !== undefined)?.difference;
    const parts = [...(others.length > 0 ? [lets] : []), ...(difference === undefined ? [] : [difference])];
    return parts.length === 0 ? null : parts.join(', and ');
  }
}
