import { canonicalCidr, type ObservedRule, type ResourceConfig } from '#rules';
import { asCallFailure } from '../call-failure';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen } from '../open-target';
import type { Outcomes } from '../outcomes';
import type { Inspection, RuleChange, Verified } from '../provider-driver';
import { ListChange, type ListState } from '../whole-list/list-change';
import { BY_MEANING, keyOfCidr, refused, type ListForm } from '../whole-list/plan-rewrite';
import type { AwsTarget, Changes, ReadTarget } from './aws-target';

/** A list of addresses of AWS as a target, written whole. */
export abstract class ListTarget<State extends ListState> implements AwsTarget {
  protected abstract readonly name: string;
  protected abstract readonly whenEmpty: ListForm['whenEmpty'];
  /** entries that AWS takes */
  protected abstract readonly limit: number;

  abstract verify(config: ResourceConfig): Promise<Verified>;
  protected abstract read(): Promise<State>;
  protected abstract write(state: State, entries: readonly string[]): Promise<void>;
  /** The IP versions that the list takes. */
  protected abstract versionsOf(state: State): readonly (4 | 6)[];
  /** Why no entry has an effect, as a message; null: they have. */
  protected noEffectOf(_: State): string | null {
    return null;
  }

  async inspect({ claims }: ReadTarget): Promise<Inspection> {
    const state = await this.read();
    const noEffect = this.noEffectOf(state);
    const ranges = [...new Set(rangesOf(state))];
    const rules = ranges.map((cidr): ObservedRule => ({
      key: keyOfCidr(cidr),
      providerRuleId: cidr,
      ownRuleId: claims.get(keyOfCidr(cidr)) ?? null,
      ...(noEffect !== null && { noEffect }),
    }));
    const used = state.entries.length;
    return {
      rules,
      room: [{ family: null, used, limit: this.limit, limitFrom: 'PROVIDER' }],
      explainOpen: () => this.explain(state),
    };
  }

  async apply({ adds, removals }: Changes, { claims }: ReadTarget, outcomes: Outcomes): Promise<void> {
    const removed = removals.map((id): RuleChange => ({ action: 'remove', ruleId: '', providerRuleId: id }));
    const changes = [...removed, ...adds];
    const endsAt = performance.now() + this.timeLimitMs;
    const state = await this.read();
    const port = {
      read: () => this.read(),
      write: (before: State, entries: readonly string[]) => this.write(before, entries),
    };
    const hasTime = (): boolean => performance.now() < endsAt;
    const change = new ListChange(port, this.formOf(state), claims, state, hasTime);
    outcomes.record(changes, await change.apply(changes));
  }

  /** Why sessions would restrict nothing, as a message; null: they do. */
  protected explain(state: State): string | null {
    const rules = rangesOf(state).map(allTrafficFrom);
    return this.noEffectOf(state) ?? explainOpen(this.name, ALL_TRAFFIC, rules);
  }

  /** Until when a driver call may send. */
  protected readonly timeLimitMs: number = 5000;

  private formOf(state: State): ListForm {
    const versions = this.versionsOf(state);
    return {
      // AWS writes IPv6 out
      ...BY_MEANING,
      spell: (cidr) => {
        const range = canonicalCidr(cidr);
        if (range?.cidr !== cidr || range.prefix === 0) return refused('invalid', `${cidr} is not taken`);
        if (versions.includes(range.version)) return cidr;
        return refused('wrong-family', `${this.name} takes no IPv${range.version} addresses`);
      },
      whenEmpty: this.whenEmpty,
    };
  }
}

const rangesOf = ({ entries }: ListState): string[] =>
  entries.flatMap((entry) => canonicalCidr(entry)?.cidr ?? []);

/**
 * Checks a right by a write that can never succeed: which error refuses it tells whether it would be allowed.
 * @param allowedBy the errors of an allowed write
 * @returns false when the answer tells neither @throws CallFailure `denied`
 */
export async function mayWrite(
  probe: () => Promise<unknown>,
  allowedBy: readonly string[],
): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    const failure = asCallFailure(error);
    if (failure.kind === 'denied') throw failure;
    return allowedBy.includes(failure.code ?? '');
  }
}

export const NOT_CHECKED = 'whether the credential may write the list could not be checked';
