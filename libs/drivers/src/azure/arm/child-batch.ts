import { canonicalCidr, ruleKey } from '#rules';
import { asCallFailure, refused, type CallFailure } from '../../call-failure';
import type { Deadline } from '../../deadline';
import { Outcomes } from '../../outcomes';
import type { AddChange, RemoveChange } from '../../provider-driver';
import { SCOPE_LOCKED } from '../azure-errors';
import { NEUTRALISED } from '../batch';
import type { Json } from './arm-json';
import {
  bodyFor,
  idOf,
  isNeutral,
  neutralBody,
  ownName,
  ownRuleId,
  parseId,
  type ChildRule,
} from './child-rule';
import type { RuleCollection } from './tables';

type Named = Pick<ChildRule, 'collection' | 'name'>;

/** The writes that a batch consists of. Each throws CallFailure. */
export interface ChildWrites {
  /** undefined: the service takes no addresses of this IP version */
  collectionOf(version: 4 | 6): RuleCollection | undefined;
  write(rule: Named, body: Json): Promise<void>;
  /** @returns whether it was there */
  remove(rule: Named): Promise<boolean>;
}

/** Applies one batch of changes to one service, one call for each. */
export class ChildBatch {
  readonly outcomes = new Outcomes('Azure');
  /** by IP version: each has its own limit */
  private readonly full = new Map<4 | 6, CallFailure>();

  /** @param rules as read before the first change */
  constructor(
    private readonly writes: ChildWrites,
    private rules: readonly ChildRule[],
    private readonly deployment: string,
    private readonly deadline: Deadline,
  ) {}

  async remove({ providerRuleId: id }: RemoveChange): Promise<void> {
    const { version, name } = parseId(id);
    const collection = this.writes.collectionOf(version);
    if (!collection || ownRuleId(this.deployment, name) === null) {
      const message = `${id} is not ours: it has no name of ours`;
      return this.outcomes.failed([id], refused('conflict', message));
    }
    if (!this.outcomes.maySend(id, this.deadline)) return;
    try {
      const more = await this.removeOrNeutralise({ collection, name });
      this.rules = this.rules.filter((rule) => idOf(rule) !== id);
      this.outcomes.done(id, null, more);
    } catch (error) {
      this.outcomes.failedOrHalted(id, asCallFailure(error));
    }
  }

  /** @returns what is left behind, and whether there was nothing to remove */
  private async removeOrNeutralise(rule: Named): Promise<{ note?: string; wasAbsent?: true }> {
    try {
      return (await this.writes.remove(rule)) ? {} : { wasAbsent: true };
    } catch (error) {
      const existing = this.rules.find((one) => idOf(one) === idOf(rule));
      if (asCallFailure(error).code !== SCOPE_LOCKED || !existing) throw error;
      if (!isNeutral(existing, this.deployment)) await this.writes.write(rule, neutralBody(rule.collection));
      return { note: NEUTRALISED };
    }
  }

  async add({ ruleId, spec, replaces = [] }: AddChange): Promise<void> {
    const key = ruleKey(spec);
    if (this.outcomes.has(key)) return;
    const isReplaced = (rule: ChildRule): boolean => replaces.includes(idOf(rule));
    const existing = this.rules.find(
      (rule) =>
        this.isOurs(rule) && !isReplaced(rule) && rule.cidrs.length === 1 && rule.cidrs[0] === spec.address,
    );
    if (existing) return this.outcomes.done(key, idOf(existing));
    const collection = this.writes.collectionOf(canonicalCidr(spec.address)?.version ?? 4);
    const refusal = refusalOf(spec, collection);
    if (refusal || !collection) return this.outcomes.failed([key], refusal!);
    const quotaFailure = this.full.get(collection.version);
    if (quotaFailure) return this.outcomes.failed([key], quotaFailure);
    if (!this.outcomes.maySend(key, this.deadline)) return;
    const changed = this.rules.find((rule) => isReplaced(rule) && this.isOurs(rule));
    const written = changed ?? { collection, name: ownName(this.deployment, ruleId) };
    try {
      await this.writes.write(written, bodyFor(collection, spec.address));
      const isNew = !this.rules.some((rule) => idOf(rule) === idOf(written));
      this.outcomes.done(key, idOf(written), isNew ? { isNew } : {});
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.kind === 'quota') this.full.set(collection.version, failure);
      this.outcomes.failedOrHalted(key, failure);
    }
  }

  private isOurs({ name }: ChildRule): boolean {
    return ownRuleId(this.deployment, name) !== null;
  }
}

/** Why an address is not sent. */
function refusalOf(
  { address, protocol, ports }: AddChange['spec'],
  collection: RuleCollection | undefined,
): CallFailure | null {
  const range = canonicalCidr(address);
  if (range?.cidr !== address) return refused('invalid', `${address} is no address or range`);
  if (protocol !== 'all' || ports.length > 0)
    return refused('invalid', 'A firewall of this service knows no protocols and no ports');
  if (!collection) return refused('wrong-family', 'The service takes IPv4 addresses only');
  if (address === '0.0.0.0/32') return refused('invalid', '0.0.0.0 would let in all of Azure');
  return null;
}
