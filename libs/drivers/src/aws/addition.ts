import { bisect, grouped, ruleKey } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import type { AddChange } from '../provider-driver';
import { DUPLICATE_RULE } from './aws-errors';
import type { Outcomes } from '../outcomes';
import { isIpv6, ruleKeyOfEc2, permissionsOf } from './rule-mapping';
import type { WritableGroup } from './aws-target';

/**
 * Adds rules in one call. EC2 refuses the whole call if one rule exists, exceeds the quota or is malformed: then
 * existing rules count as done, and the others are retried in parts.
 */
export async function addRules(
  group: WritableGroup,
  adds: readonly AddChange[],
  outcomes: Outcomes,
): Promise<void> {
  const addition = new Addition(group, outcomes);
  const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
  await addition.run(byAddress([...unique.values()]));
}

/** Puts the rules of an address beside each other: when a group is full, as many whole addresses as fit get in. */
const byAddress = (adds: readonly AddChange[]): AddChange[] =>
  [...grouped(adds, ({ spec }) => spec.address).values()].flat();

const keysOf = (adds: readonly AddChange[]): string[] => adds.map(({ spec }) => ruleKey(spec));

class Addition {
  constructor(
    private readonly group: WritableGroup,
    private readonly outcomes: Outcomes,
  ) {}

  async run(adds: readonly AddChange[]): Promise<void> {
    let failure = await this.send(adds);
    if (!failure) return;
    let rest = adds;
    if (failure.kind !== 'invalid') {
      rest = await this.excludeExisting(adds);
      const isSmaller = rest.length < adds.length;
      const shouldRetry = rest.length > 0 && (isSmaller || failure.code === DUPLICATE_RULE);
      if (shouldRetry) failure = await this.send(rest);
    }
    if (failure && rest.length > 0) await this.bisect(rest, failure);
  }

  /** @returns the refusal when some of the rules may still be added */
  private send = async (adds: readonly AddChange[]): Promise<CallFailure | null> => {
    if (this.outcomes.haltedBy) {
      this.outcomes.unsent(keysOf(adds));
      return null;
    }
    try {
      const created = await this.group.authorize(permissionsOf(adds));
      const ids = new Map(created.map((rule) => [ruleKeyOfEc2(rule), rule.SecurityGroupRuleId]));
      for (const key of keysOf(adds)) {
        const id = ids.get(key);
        // The outcome of a rule that the response does not list stays unknown.
        if (id) this.outcomes.done(key, id, { isNew: true });
      }
      return null;
    } catch (error) {
      const failure = asCallFailure(error);
      const isSplittable =
        failure.kind === 'invalid' || failure.kind === 'quota' || failure.code === DUPLICATE_RULE;
      if (isSplittable) return failure;
      this.outcomes.halt(keysOf(adds), failure);
      return null;
    }
  };

  /** Records existing rules, ours or unmanaged, as done. @returns the others */
  private async excludeExisting(adds: readonly AddChange[]): Promise<readonly AddChange[]> {
    try {
      const existing = new Map(
        (await this.group.listRules()).map((rule) => [ruleKeyOfEc2(rule), rule.SecurityGroupRuleId]),
      );
      return adds.filter(({ spec }) => {
        const id = existing.get(ruleKey(spec));
        if (id) this.outcomes.done(ruleKey(spec), id);
        return !id;
      });
    } catch (error) {
      this.outcomes.haltUnsent(keysOf(adds), asCallFailure(error));
      return [];
    }
  }

  private bisect(adds: readonly AddChange[], failure: CallFailure): Promise<void> {
    return bisect(adds, failure, this.send, async (part, refusal) => {
      if (part.length === 1) this.settleSingle(part, refusal);
      else if (refusal.kind === 'quota') await this.fill(part, refusal);
      else return false;
      return true;
    });
  }

  private settleSingle([add]: readonly AddChange[], refusal: CallFailure): void {
    if (!add) return;
    const key = ruleKey(add.spec);
    // EC2 reports that the rule exists. The read before may be older than this response.
    if (refusal.code === DUPLICATE_RULE) this.outcomes.done(key, null);
    else this.outcomes.failed([key], refusal);
  }

  /** Adds as many rules as fit. EC2 counts IPv4 and IPv6 rules separately and reports neither count nor limit. */
  private async fill(adds: readonly AddChange[], refusal: CallFailure): Promise<void> {
    const v6 = adds.filter(({ spec }) => isIpv6(spec.address));
    const v4 = adds.filter(({ spec }) => !isIpv6(spec.address));
    for (const family of [v4, v6]) {
      const isWhole = family.length === adds.length;
      await this.fillFamily(family, isWhole ? adds.length : Number.POSITIVE_INFINITY, refusal);
    }
  }

  /** @param tooMany a number of rules known not to fit; halved by each call, which limits the number of calls */
  private async fillFamily(adds: readonly AddChange[], tooMany: number, refusal: CallFailure): Promise<void> {
    let rest = adds;
    while (rest.length > 0 && tooMany > 1) {
      const part = rest.slice(0, Math.floor(tooMany / 2));
      const failure = await this.send(part);
      if (failure?.kind === 'quota') {
        tooMany = part.length;
        continue;
      }
      if (failure) await this.bisect(part, failure);
      rest = rest.slice(part.length);
      tooMany -= part.length;
    }
    this.outcomes.failed(keysOf(rest), refusal);
    this.outcomes.unsent(keysOf(rest));
  }
}
