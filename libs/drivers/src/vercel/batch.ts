import type { ChangeResult, RuleSpec } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import type { CloudTarget, RuleChange } from '../provider-driver';
import type { FirewallConfig } from './firewall-config';
import {
  entryAddress,
  entryId,
  guardRule,
  guardsOf,
  letsIn,
  listedIn,
  listOfClaims,
  roomOf,
  type Guard,
} from './guard';
import { Outcomes, type Items } from './outcomes';
import type { ProjectFirewall } from './project-firewall';
import type { GuardedPath } from './vercel.facts';

/** A list that was read longer ago is not built upon: this process was held up, and another one may have written. */
const MAX_AGE_MS = 2000;
/** A write, and the read that tells what came of it. */
const REQUESTS_OF_A_WRITE = 2;
const GONE: ChangeResult = { result: 'done', providerRuleId: null };
const NOT_AS_WRITTEN: ChangeResult = {
  result: 'unknown',
  message: 'Vercel took the change, and the rule does not show it',
};

/**
 * One batch of changes of one guard. Vercel has no condition on writes: the list is read, changed, written as a whole,
 * and read again. What is wrong with one address alone is found by halves.
 */
export class Batch {
  private readonly outcomes = new Outcomes();
  private guards: readonly Guard[];
  private list: ReadonlySet<string>;
  private readAt = performance.now();
  private haltedBy: CallFailure | null = null;

  /** @param config as it was read this moment */
  constructor(
    private readonly firewall: ProjectFirewall,
    private readonly place: GuardedPath,
    private readonly target: Pick<CloudTarget, 'deployment' | 'claims'>,
    config: FirewallConfig,
  ) {
    this.guards = guardsOf(config, place, target.deployment);
    // Somebody deleted the guard: a new one with fewer on its list would keep those out who are to be let in.
    this.list = new Set(this.guards.length > 0 ? listedIn(this.guards) : listOfClaims(target.claims));
  }

  /** @throws CallFailure when nothing of it was sent */
  async run(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const items = this.sort(changes);
    if (items.removals.length + items.additions.length > 0) {
      const refusal = await this.write(items);
      // It has the wait that Vercel asks for.
      if (refusal && !isAboutItems(refusal)) throw refusal;
      if (refusal) await this.divide(items, refusal);
    }
    return changes.map((change) => this.outcomes.of(change));
  }

  /** What has to be written. The rest is done already, or refused. */
  private sort(changes: readonly RuleChange[]): Items {
    const gone = changes.flatMap((change) =>
      change.action === 'remove' ? [entryAddress(change.providerRuleId)] : [],
    );
    const listed = new Set(listedIn(this.guards));
    const removals = new Set(gone.filter((address) => listed.has(address)));
    this.outcomes.all({ removals: gone, additions: [] }, GONE);
    this.list = new Set([...this.list].filter((address) => !gone.includes(address)));
    const room = roomOf(this.place);
    const grown = new Set(this.list);
    const additions = new Set<string>();
    for (const change of changes) {
      if (change.action !== 'add') continue;
      const { address } = change.spec;
      if (hasPorts(change.spec)) this.outcomes.addition(address, NO_PORTS);
      else if (letsIn(this.guards, address) && !removals.has(address)) this.added(address);
      else if (grown.size >= room && !grown.has(address)) this.outcomes.addition(address, noRoom(room));
      else {
        additions.add(address);
        grown.add(address);
      }
    }
    return { removals: [...removals], additions: [...additions] };
  }

  /** @returns why all of it was refused; null: its outcomes are noted */
  private async write(items: Items): Promise<CallFailure | null> {
    const list = new Set([...this.list, ...items.additions]);
    const value = guardRule(this.place, this.target.deployment, [...list]);
    const [guard] = this.guards;
    try {
      this.requireTime();
      await this.firewall.change(
        guard ? { action: 'rules.update', id: guard.id, value } : { action: 'rules.insert', id: null, value },
      );
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.settled) return failure;
      this.haltedBy = failure;
      this.outcomes.all(items, failure.changeResult);
      return null;
    }
    try {
      await this.read();
      if (this.guards.length > 1) await this.removeSurplus();
      this.settle(items, list);
    } catch (error) {
      this.haltedBy = asCallFailure(error);
      const message = `Written, and not seen: ${this.haltedBy.message}`;
      this.outcomes.all(items, { result: 'unknown', message });
    }
    return null;
  }

  /** By what was read after the write: everybody is kept out whom the list does not name, and nobody else. */
  private settle({ removals, additions }: Items, written: ReadonlySet<string>): void {
    const stands =
      this.guards.length > 0 &&
      this.guards.every(({ isSound }) => isSound) &&
      this.list.size === written.size &&
      [...written].every((address) => letsIn(this.guards, address));
    this.outcomes.all({ removals, additions }, stands ? GONE : NOT_AS_WRITTEN);
    if (stands) for (const address of additions) this.added(address);
  }

  /** Guards beside the one just written: an insert landed that was given up. Together they let in too few. */
  private async removeSurplus(): Promise<void> {
    for (const { id } of this.guards.slice(1))
      await this.firewall.change({ action: 'rules.remove', id, value: null });
    await this.read();
  }

  /** Writes the removals alone, then the additions in halves until what Vercel objects to stands alone. */
  private async divide({ removals, additions }: Items, whole: CallFailure): Promise<void> {
    if (removals.length > 0) {
      const items = { removals, additions: [] };
      const refusal = additions.length > 0 ? await this.write(items) : whole;
      if (refusal) this.outcomes.all(items, refusal.changeResult);
      // Nothing is let in that could not be kept out again.
      this.haltedBy ??= refusal;
    }
    const parts = this.halves(additions, whole);
    for (let part = parts.shift(); part; part = parts.shift()) {
      const items = { removals: [], additions: part };
      if (this.haltedBy) {
        this.outcomes.all(items, this.haltedBy.unsent.changeResult);
        continue;
      }
      const refusal = await this.write(items);
      if (refusal && isAboutItems(refusal)) parts.unshift(...this.halves(part, refusal));
      else if (refusal) {
        this.haltedBy = refusal;
        this.outcomes.all(items, refusal.changeResult);
      }
    }
  }

  /** The halves of a refused part; of a single one nothing is left, and for the next ones there is no room either. */
  private halves(part: readonly string[], refusal: CallFailure): (readonly string[])[] {
    const middle = Math.ceil(part.length / 2);
    if (part.length > 1) return [part.slice(0, middle), part.slice(middle)];
    this.outcomes.all({ removals: [], additions: part }, refusal.changeResult);
    if (refusal.kind === 'quota') this.haltedBy = refusal;
    return [];
  }

  /** @throws CallFailure when it is too late for a write */
  private requireTime(): void {
    if (performance.now() - this.readAt > MAX_AGE_MS)
      throw new CallFailure('transient', 'The list was read too long ago to be written', null, true);
    if (!this.firewall.api.hasTimeFor(REQUESTS_OF_A_WRITE))
      throw new CallFailure('transient', 'The changes before it took all the time', null, true);
  }

  private async read(): Promise<void> {
    const config = await this.firewall.read();
    this.readAt = performance.now();
    this.guards = guardsOf(config, this.place, this.target.deployment);
    this.list = new Set(listedIn(this.guards));
  }

  private added(address: string): void {
    const [guard] = this.guards;
    this.outcomes.addition(address, { result: 'done', providerRuleId: entryId(guard!.id, address) });
  }
}

const hasPorts = ({ protocol, ports }: RuleSpec): boolean => protocol !== 'all' || ports.length > 0;

const NO_PORTS: ChangeResult = {
  result: 'refused',
  kind: 'invalid',
  message: 'A firewall rule of Vercel knows no ports',
};

const noRoom = (room: number): ChangeResult => ({
  result: 'refused',
  kind: 'quota',
  message: `The firewall rule holds ${room} addresses, and no more`,
});

/** It may be about one of the addresses alone. */
const isAboutItems = ({ kind }: CallFailure): boolean => kind === 'invalid' || kind === 'quota';
