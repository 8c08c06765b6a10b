import { canonicalCidr, formatMark, parseMark, ruleKey, type ObservedRule } from '#rules';
import { CallFailure } from '../call-failure';
import type { Outcomes } from '../outcomes';
import type { AddChange, AwsTarget, Changes } from './aws-target';
import type { Entry, PrefixList, PrefixListFacts } from './prefix-list';
import { PrefixListChange, type EntryAddition, type EntryRemoval } from './prefix-list-change';
import { isIpv6 } from './rule-mapping';

/** The list at one moment: what is changed is changed from here. */
interface Look {
  readonly facts: PrefixListFacts;
  /** by canonical CIDR */
  readonly standing: ReadonlyMap<string, Entry>;
}

/**
 * The entries of a managed prefix list. EC2 gives them no id: a list holds an address once, so the address identifies
 * an entry, whatever its description says. EC2 takes an addition of one that stands for a new description: so every
 * change is worked out from one version of the list, and made of that version only.
 */
export class PrefixListEntries implements AwsTarget {
  constructor(private readonly list: PrefixList) {}

  async verify(): Promise<void> {
    const facts = await this.list.describe();
    await this.list.entries(facts.version);
    await this.list.mayChange(facts);
  }

  async readRules(deployment: string): Promise<ObservedRule[]> {
    const { standing } = await this.look();
    return [...standing].map(([cidr, entry]) => ({
      key: ruleKey({ address: cidr, protocol: 'all', ports: [] }),
      providerRuleId: this.idOf(cidr, entry, deployment),
      ownRuleId: ownRuleId(entry, deployment),
    }));
  }

  async apply({ adds, removals }: Changes, deployment: string, outcomes: Outcomes): Promise<void> {
    const sendUntil = performance.now() + this.list.patienceMs;
    const look = await this.look();
    const { leaving, missing } = this.leaving(removals, look, deployment, outcomes);
    const staying = without(look.standing, new Set(leaving.map(({ cidr }) => cidr)));
    const entering = this.entering(adds, { ...look, standing: staying }, deployment, outcomes);
    const room = look.facts.maxEntries - staying.size;
    const full = new CallFailure('quota', this.fullMessage(look.facts), null, true);
    outcomes.failed(
      entering.slice(Math.max(0, room)).map(({ key }) => key),
      full,
    );
    const change = new PrefixListChange(this.list, look.facts.version, sendUntil, outcomes);
    await change.run(leaving, entering.slice(0, Math.max(0, room)));
    await change.settleMissing(missing);
  }

  private async look(): Promise<Look> {
    const facts = await this.list.whenSettled();
    const entries = await this.list.entries(facts.version);
    const standing = entries.map((entry) => [canonicalCidr(entry.cidr)?.cidr ?? entry.cidr, entry] as const);
    return { facts, standing: new Map(standing) };
  }

  /** Of what is to be removed, what stands and what is missing; another deployment's at that address stays. */
  private leaving(
    removals: readonly string[],
    { standing }: Look,
    deployment: string,
    outcomes: Outcomes,
  ): { leaving: EntryRemoval[]; missing: EntryRemoval[] } {
    const byId = new Map(
      [...standing].map(([cidr, entry]) => [this.idOf(cidr, entry, deployment), entry] as const),
    );
    const leaving: EntryRemoval[] = [];
    const missing: EntryRemoval[] = [];
    for (const id of removals) {
      const entry = byId.get(id);
      const cidr = this.cidrOf(id);
      if (entry) leaving.push({ action: 'remove', key: id, cidr: entry.cidr });
      else if (cidr !== null && !standing.has(cidr)) missing.push({ action: 'remove', key: id, cidr });
      else outcomes.done(id, null);
    }
    return { leaving, missing };
  }

  /** Of what is to be added, what can be; what stands already, ours or unmanaged, is done. */
  private entering(
    adds: readonly AddChange[],
    { standing, facts }: Look,
    deployment: string,
    outcomes: Outcomes,
  ): EntryAddition[] {
    const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
    return [...unique].flatMap(([key, { spec, mark }]) => {
      const cidr = spec.address;
      const entry = standing.get(cidr);
      const objection = this.objectionTo(spec, facts);
      if (objection) outcomes.failed([key], new CallFailure('invalid', objection, null, true));
      else if (entry) outcomes.done(key, this.idOf(cidr, entry, deployment));
      else {
        const description = formatMark(mark);
        const providerRuleId = this.idOf(cidr, { cidr, description }, deployment);
        return [{ action: 'add', key, cidr, description, providerRuleId }];
      }
      return [];
    });
  }

  private objectionTo(
    { address, protocol, ports }: AddChange['spec'],
    facts: PrefixListFacts,
  ): string | null {
    if (protocol !== 'all' || ports.length > 0)
      return 'An entry of a prefix list has no protocol and no ports';
    const family = isIpv6(address) ? 'IPv6' : 'IPv4';
    if (family === facts.family) return null;
    return `${this.list.listId} is a list of ${facts.family} addresses: ${address} cannot be in it`;
  }

  private fullMessage({ maxEntries }: PrefixListFacts): string {
    return `${this.list.listId} is full: its maximum is ${maxEntries} entries (MaxEntries)`;
  }

  /**
   * The address alone, so that an entry keeps its id when somebody edits its description. The entry of another
   * deployment has another id than ours at the same address: it is never taken for ours.
   */
  private idOf(cidr: string, { description }: Entry, deployment: string): string {
    const mark = parseMark(description);
    const owner = mark && mark.deployment !== deployment ? `#${mark.deployment}` : '';
    return `${this.list.listId}/${cidr}${owner}`;
  }

  /** @returns null when the id is none of this list's */
  private cidrOf(id: string): string | null {
    const [listId, address = '', length = ''] = id.replace(/#.*/s, '').split('/');
    return listId === this.list.listId ? (canonicalCidr(`${address}/${length}`)?.cidr ?? null) : null;
  }
}

/** @param leaving as EC2 spells them */
const without = (standing: Look['standing'], leaving: ReadonlySet<string>): Look['standing'] =>
  new Map([...standing].filter(([, entry]) => !leaving.has(entry.cidr)));

function ownRuleId({ description }: Entry, deployment: string): string | null {
  const mark = parseMark(description);
  return mark?.deployment === deployment ? mark.ruleId : null;
}
