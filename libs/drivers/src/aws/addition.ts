import { ruleKey } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import type { AddChange } from './aws-target';
import { DUPLICATE_RULE } from './aws-errors';
import { divide } from './divide';
import type { Outcomes } from '../outcomes';
import { isIpv6, ruleKeyOfEc2, permissionsOf } from './rule-mapping';
import type { SecurityGroup } from './security-group';

/**
 * Adds rules in one call. EC2 refuses the whole call for one rule that exists, has no room or is malformed: then
 * what exists counts as done, and the rest is sent again in parts.
 */
export async function addRules(
  group: SecurityGroup,
  adds: readonly AddChange[],
  outcomes: Outcomes,
): Promise<void> {
  const addition = new Addition(group, outcomes);
  const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
  await addition.run([...unique.values()]);
}

const keysOf = (adds: readonly AddChange[]): string[] => adds.map(({ spec }) => ruleKey(spec));

class Addition {
  constructor(
    private readonly group: SecurityGroup,
    private readonly outcomes: Outcomes,
  ) {}

  async run(adds: readonly AddChange[]): Promise<void> {
    let failure = await this.send(adds);
    if (!failure) return;
    let rest = adds;
    if (failure.kind !== 'invalid') {
      rest = await this.leaveOutExisting(adds);
      const isSmaller = rest.length < adds.length;
      const sendAgain = rest.length > 0 && (isSmaller || failure.code === DUPLICATE_RULE);
      if (sendAgain) failure = await this.send(rest);
    }
    if (failure && rest.length > 0) await this.divide(rest, failure);
  }

  /** @returns the refusal, when a part of the rules may still be added */
  private send = async (adds: readonly AddChange[]): Promise<CallFailure | null> => {
    if (this.outcomes.haltedBy) {
      this.outcomes.unsent(keysOf(adds));
      return null;
    }
    try {
      const made = await this.group.authorize(permissionsOf(adds));
      const ids = new Map(made.map((rule) => [ruleKeyOfEc2(rule), rule.SecurityGroupRuleId]));
      for (const key of keysOf(adds)) {
        const id = ids.get(key);
        // One that the answer does not show keeps its outcome unknown, whatever the answer's verdict.
        if (id) this.outcomes.done(key, id);
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

  /** Rules that stand already, ours or unmanaged, are done. @returns the others */
  private async leaveOutExisting(adds: readonly AddChange[]): Promise<readonly AddChange[]> {
    try {
      const standing = new Map(
        (await this.group.readRules()).map((rule) => [ruleKeyOfEc2(rule), rule.SecurityGroupRuleId]),
      );
      return adds.filter(({ spec }) => {
        const id = standing.get(ruleKey(spec));
        if (id) this.outcomes.done(ruleKey(spec), id);
        return !id;
      });
    } catch (error) {
      this.outcomes.haltUnsent(keysOf(adds), asCallFailure(error));
      return [];
    }
  }

  private divide(adds: readonly AddChange[], failure: CallFailure): Promise<void> {
    return divide(adds, failure, this.send, async (part, refusal) => {
      if (part.length === 1) this.settleAlone(part, refusal);
      else if (refusal.kind === 'quota') await this.fillUp(part, refusal);
      else return false;
      return true;
    });
  }

  private settleAlone([add]: readonly AddChange[], refusal: CallFailure): void {
    if (!add) return;
    const key = ruleKey(add.spec);
    // EC2 says that it stands, and what was read may be older than that answer.
    if (refusal.code === DUPLICATE_RULE) this.outcomes.done(key, null);
    else this.outcomes.failed([key], refusal);
  }

  /** Adds as many as there is room for. EC2 counts IPv4 and IPv6 rules apart, and says neither count nor room. */
  private async fillUp(adds: readonly AddChange[], refusal: CallFailure): Promise<void> {
    const v6 = adds.filter(({ spec }) => isIpv6(spec.address));
    const v4 = adds.filter(({ spec }) => !isIpv6(spec.address));
    for (const family of [v4, v6]) {
      const isWhole = family.length === adds.length;
      await this.fillFamily(family, isWhole ? adds.length : Number.POSITIVE_INFINITY, refusal);
    }
  }

  /** @param tooMany a number of rules known not to fit; each call halves it, so the calls stay few */
  private async fillFamily(adds: readonly AddChange[], tooMany: number, refusal: CallFailure): Promise<void> {
    let rest = adds;
    while (rest.length > 0 && tooMany > 1) {
      const part = rest.slice(0, Math.floor(tooMany / 2));
      const failure = await this.send(part);
      if (failure?.kind === 'quota') {
        tooMany = part.length;
        continue;
      }
      if (failure) await this.divide(part, failure);
      rest = rest.slice(part.length);
      tooMany -= part.length;
    }
    this.outcomes.failed(keysOf(rest), refusal);
    this.outcomes.unsent(keysOf(rest));
  }
}
