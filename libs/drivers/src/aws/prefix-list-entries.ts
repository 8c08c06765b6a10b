import { canonicalCidr, formatMark, parseMark, ruleKey } from '#rules';
import { refused, type CallFailure } from '../call-failure';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen, refuseOpenTarget } from '../open-target';
import type { Outcomes } from '../outcomes';
import type { AddChange, Inspection } from '../provider-driver';
import { keyOfCidr } from '../whole-list/plan-rewrite';
import type { AwsTarget, Changes, ReadTarget } from './aws-target';
import type { Entry, PrefixList, PrefixListFacts } from './prefix-list';
import { PrefixListChange, type EntryAddition, type EntryRemoval } from './prefix-list-change';
import { isIpv6 } from './rule-mapping';

/** One version of the list, which changes are based on. */
interface ListSnapshot {
  readonly facts: PrefixListFacts;
  /** by canonical CIDR */
  readonly entries: ReadonlyMap<string, Entry>;
}

/**
 * The entries of a managed prefix list. They have no id: a list contains an address once, so the address identifies an
 * entry, regardless of its description. EC2 treats the addition of an existing entry as a new description: so each
 * change is planned from one version of the list and applied to that version only.
 */
export class PrefixListEntries implements AwsTarget {
  constructor(private readonly list: PrefixList) {}

  async verify(): Promise<void> {
    const facts = await this.list.describe();
    const entries = await this.list.entries(facts.version);
    await this.list.requireWritePermission(facts);
    const cidrs = entries.map(({ cidr }) => canonicalCidr(cidr)?.cidr ?? cidr);
    refuseOpenTarget(this.list.listId, ALL_TRAFFIC, cidrs.map(allTrafficFrom));
  }

  async inspect({ deployment }: ReadTarget): Promise<Inspection> {
    const { entries, facts } = await this.readSnapshot();
    return {
      room: [{ family: null, used: entries.size, limit: facts.maxEntries, limitFrom: 'PROVIDER' }],
      rules: [...entries].map(([cidr, entry]) => ({
        key: keyOfCidr(cidr),
        providerRuleId: this.idOf(cidr, entry, deployment),
        ownRuleId: ownRuleId(entry, deployment),
      })),
      explainOpen: () => explainOpen(this.list.listId, ALL_TRAFFIC, [...entries.keys()].map(allTrafficFrom)),
    };
  }

  async apply({ adds, removals }: Changes, { deployment }: ReadTarget, outcomes: Outcomes): Promise<void> {
    const snapshot = await this.readSnapshot();
    const { removable, missing } = this.planRemovals(removals, snapshot, deployment, outcomes);
    const remaining = withoutRemoved(snapshot.entries, new Set(removable.map(({ cidr }) => cidr)));
    const addable = this.planAdditions(adds, { ...snapshot, entries: remaining }, deployment, outcomes);
    const capacity = snapshot.facts.maxEntries - remaining.size;
    const quotaFailure = refused('quota', this.fullMessage(snapshot.facts));
    outcomes.failed(
      addable.slice(Math.max(0, capacity)).map(({ key }) => key),
      quotaFailure,
    );
    const change = new PrefixListChange(this.list, snapshot.facts.version, outcomes);
    await change.run(removable, addable.slice(0, Math.max(0, capacity)));
    await change.settleMissing(missing);
  }

  private async readSnapshot(): Promise<ListSnapshot> {
    const facts = await this.list.waitUntilSettled();
    const read = await this.list.entries(facts.version);
    const entries = read.map((entry) => [canonicalCidr(entry.cidr)?.cidr ?? entry.cidr, entry] as const);
    return { facts, entries: new Map(entries) };
  }

  /** Divides removals into existing and missing entries. Another deployment's entry at the address is kept. */
  private planRemovals(
    removals: readonly string[],
    { entries }: ListSnapshot,
    deployment: string,
    outcomes: Outcomes,
  ): { removable: EntryRemoval[]; missing: EntryRemoval[] } {
    const byId = new Map(
      [...entries].map(([cidr, entry]) => [this.idOf(cidr, entry, deployment), entry] as const),
    );
    const removable: EntryRemoval[] = [];
    const missing: EntryRemoval[] = [];
    for (const id of removals) {
      const entry = byId.get(id);
      const cidr = this.cidrOf(id);
      if (entry) removable.push({ action: 'remove', key: id, cidr: entry.cidr });
      else if (cidr !== null && !entries.has(cidr)) missing.push({ action: 'remove', key: id, cidr });
      else outcomes.done(id, null);
    }
    return { removable, missing };
  }

  /** The additions to send. Existing entries, ours or unmanaged, are recorded as done. */
  private planAdditions(
    adds: readonly AddChange[],
    { entries, facts }: ListSnapshot,
    deployment: string,
    outcomes: Outcomes,
  ): EntryAddition[] {
    const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
    return [...unique].flatMap(([key, { spec, mark }]) => {
      const cidr = spec.address;
      const entry = entries.get(cidr);
      const refusal = this.refusalOf(spec, facts);
      if (refusal) outcomes.failed([key], refusal);
      else if (entry) outcomes.done(key, this.idOf(cidr, entry, deployment));
      else {
        const description = formatMark(mark);
        const providerRuleId = this.idOf(cidr, { cidr, description }, deployment);
        return [{ action: 'add', key, cidr, description, providerRuleId }];
      }
      return [];
    });
  }

  private refusalOf(
    { address, protocol, ports }: AddChange['spec'],
    facts: PrefixListFacts,
  ): CallFailure | null {
    if (protocol !== 'all' || ports.length > 0)
      return refused('invalid', 'An entry of a prefix list has no protocol and no ports');
    const family = isIpv6(address) ? 'IPv6' : 'IPv4';
    if (family === facts.family) return null;
    const message = `${this.list.listId} is a list of ${facts.family} addresses: ${address} cannot be in it`;
    return refused('wrong-family', message);
  }

  private fullMessage({ maxEntries }: PrefixListFacts): string {
    return `${this.list.listId} is full: its maximum is ${maxEntries} entries (MaxEntries)`;
  }

  /**
   * Built from the address only, so that an edited description does not change it. An entry of another deployment has
   * a different id, so that it is not mistaken for ours at the same address.
   */
  private idOf(cidr: string, { description }: Entry, deployment: string): string {
    const mark = parseMark(description);
    const owner = mark && mark.deployment !== deployment ? `#${mark.deployment}` : '';
    return `${this.list.listId}/${cidr}${owner}`;
  }

  /** @returns null when the id belongs to another list */
  private cidrOf(id: string): string | null {
    const [listId, address = '', length = ''] = id.replace(/#.*/s, '').split('/');
    return listId === this.list.listId ? (canonicalCidr(`${address}/${length}`)?.cidr ?? null) : null;
  }
}

/** @param removed in EC2's spelling */
const withoutRemoved = (
  entries: ListSnapshot['entries'],
  removed: ReadonlySet<string>,
): ListSnapshot['entries'] => new Map([...entries].filter(([, entry]) => !removed.has(entry.cidr)));

function ownRuleId({ description }: Entry, deployment: string): string | null {
  const mark = parseMark(description);
  return mark?.deployment === deployment ? mark.ruleId : null;
}
