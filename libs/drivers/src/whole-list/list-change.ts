import type { ChangeResult, DriverErrorKind } from '#rules';
import { asCallFailure, refused, type CallFailure } from '../call-failure';
import type { CloudTarget, RuleChange } from '../provider-driver';
import { planRewrite, resultsOf, type ListForm, type Rewrite } from './plan-rewrite';

/** A list as it was read, with whatever has to be sent back or guards the write. */
export interface ListState {
  /** in their original spelling and order */
  readonly entries: readonly string[];
}

/** The calls on one list. Each throws CallFailure; `write` of an outdated state, `conflict`. */
export interface ListPort<State extends ListState> {
  read(): Promise<State>;
  /** @param entries the complete list */
  write(state: State, entries: readonly string[]): Promise<void>;
}

/** Kinds of refusals that additions may cause while removals are accepted. */
const ADDITION_FAILURES: ReadonlySet<DriverErrorKind> = new Set(['quota', 'invalid']);

type Results = ReadonlyMap<RuleChange, ChangeResult>;

/** Applies one batch of changes to one list, in a single write where it is accepted, and reads the list back. */
export class ListChange<State extends ListState> {
  /**
   * @param state just read: where there is no compare-and-set, the write must follow quickly
   * @param hasTime whether the driver call may still send
   */
  constructor(
    private readonly port: ListPort<State>,
    private readonly form: ListForm,
    private readonly claims: CloudTarget['claims'],
    private state: State,
    private readonly hasTime: () => boolean,
  ) {}

  /** @returns one result for each change, in their order */
  async apply(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const results = await this.attempt(changes);
    return changes.map((change) => results.get(change)!);
  }

  private async attempt(changes: readonly RuleChange[]): Promise<Results> {
    const plan = planRewrite(this.state.entries, changes, this.claims, this.form);
    const failure = await this.write(plan);
    if (!failure) return this.readBack(changes, plan);
    const failed = new Map(
      changes.map((change, index) => [change, plan.settled.get(index) ?? failure.changeResult]),
    );
    if (!failure.settled || !ADDITION_FAILURES.has(failure.kind)) return failed;
    const removals = changes.filter(({ action }) => action === 'remove');
    if (removals.length === changes.length) return failed;
    const additions = changes.filter((change, index) => change.action === 'add' && !plan.settled.has(index));
    const removed = removals.length === 0 ? [] : await this.attempt(removals);
    if (!this.form.isDivided) return new Map([...failed, ...removed]);
    // without the removals, the additions are a smaller batch already
    const parts = removals.length > 0 ? [additions] : halves(additions);
    return new Map([...failed, ...removed, ...(await this.attemptParts(parts, failure))]);
  }

  /** @param failure of the parts together */
  private async attemptParts(parts: readonly RuleChange[][], failure: CallFailure): Promise<Results> {
    const results = new Map<RuleChange, ChangeResult>();
    let isFull = false;
    for (const part of parts) {
      const found: Results = isFull
        ? new Map(part.map((change) => [change, failure.changeResult]))
        : await this.attempt(part);
      for (const [change, result] of found) results.set(change, result);
      isFull ||= [...found.values()].some((one) => one.result === 'refused' && one.kind === 'quota');
    }
    return results;
  }

  /** @returns null when the list was written or did not change */
  private async write({ entries }: Rewrite): Promise<CallFailure | null> {
    if (!entries) return null;
    // A process that was suspended meanwhile would write an outdated list.
    if (!this.hasTime()) return refused('transient', 'The time for the change was over before it was sent');
    try {
      await this.port.write(this.state, entries);
      return null;
    } catch (error) {
      return asCallFailure(error);
    }
  }

  /** If the read fails after the write, the outcomes are unknown. */
  private async readBack(changes: readonly RuleChange[], plan: Rewrite): Promise<Results> {
    let results: readonly ChangeResult[];
    try {
      if (plan.entries) this.state = await this.port.read();
      results = resultsOf(this.state.entries, changes, plan, this.form);
    } catch (error) {
      const { message } = asCallFailure(error);
      results = changes.map((_, index) => plan.settled.get(index) ?? { result: 'unknown', message });
    }
    return new Map(changes.map((change, index) => [change, results[index]!]));
  }
}

const halves = (changes: readonly RuleChange[]): RuleChange[][] => {
  if (changes.length <= 1) return [];
  const middle = Math.ceil(changes.length / 2);
  return [changes.slice(0, middle), changes.slice(middle)];
};
