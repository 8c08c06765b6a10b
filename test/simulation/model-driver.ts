import {
  DriverError,
  type CloudTarget,
  type DriverTraits,
  type Inspection,
  type ProviderDriver,
  type RuleChange,
} from '#drivers';
import { ruleKey, type ChangeResult, type DriverErrorKind, type ObservedRule, type TargetRead } from '#rules';
import type { SeededRandom } from './seeded-random';
import type { Actor, ModelTarget } from './model-cloud';
import type { Scheduler } from './scheduler';
import type { SimulatedProcess } from './simulated-process';

/** The faults of the cloud at this moment. */
export interface CloudFaults {
  /** the error of every call; null: none */
  refusal(
    modelTarget: ModelTarget,
    credentialId: string,
  ): { kind: DriverErrorKind; retryAfterMs: number | null } | null;
  /** whether this request is not answered */
  isInDoubt(): boolean;
  /** until this request is answered, ms */
  answerMs(): number;
  /** whether this change of a batch is refused */
  refusesChange(): boolean;
  /** for how long reads do not show this change, ms */
  staleMs(): number;
}

/** Is notified of every call. */
export interface CallWatcher {
  reads(modelTarget: ModelTarget, credentialId: string, observed: readonly ObservedRule[]): void;
  /** The cloud answered that the target does not exist. */
  writes(process: SimulatedProcess, modelTarget: ModelTarget, changes: readonly RuleChange[]): void;
}

/** A possibly stale view of a target. Reads are monotonic. */
export class ReadView {
  private rules: ObservedRule[] = [];
  private freshAt = 0;

  read(modelTarget: ModelTarget, now: number): ObservedRule[] {
    if (now >= this.freshAt) this.rules = modelTarget.list();
    return this.rules.map(({ key, providerRuleId, ownRuleId, endsAt }) => ({
      key,
      providerRuleId,
      ownRuleId,
      ...(endsAt !== undefined && { endsAt }),
    }));
  }

  /** Until then reads show the rules that are present now, whatever is written. */
  freeze(modelTarget: ModelTarget, now: number, until: number): void {
    if (now < this.freshAt) return;
    this.rules = modelTarget.list();
    this.freshAt = until;
  }
}

/** The driver of the simulated clouds, for one worker process. */
export class ModelDriver implements ProviderDriver {
  readonly kind = 'AWS';

  constructor(
    readonly traits: DriverTraits,
    private readonly process: SimulatedProcess,
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly modelTargets: ReadonlyMap<string, ModelTarget>,
    private readonly views: Map<string, ReadView>,
    private readonly faults: CloudFaults,
    private readonly watcher: CallWatcher,
  ) {}

  accountKey(): string {
    return 'account';
  }

  checkCredential(): Promise<void> {
    return Promise.resolve();
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.call('readRules', target, (modelTarget) => {
      const observed = this.view(modelTarget).read(modelTarget, this.scheduler.now);
      this.watcher.reads(modelTarget, target.credential.data['id']!, observed);
      return { rules: observed };
    });
  }

  async inspect(target: CloudTarget): Promise<Inspection> {
    return { ...(await this.readRules(target)), explainOpen: () => null };
  }

  /** Removals and additions are requests of their own, as with EC2. After one without success, or late, no other is sent. */
  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const sendUntil = this.scheduler.now + this.traits.callTimeoutMs;
    const results = new Map<RuleChange, ChangeResult>();
    for (const action of ['remove', 'add'] as const) {
      const part = changes.filter((change) => change.action === action);
      if (part.length === 0) continue;
      const isHalted = [...results.values()].some(({ result }) => result !== 'done');
      const maySend = !isHalted && this.scheduler.now < sendUntil;
      const answers = maySend ? await this.request(target, part) : part.map(() => refused('transient'));
      for (const [index, change] of part.entries()) results.set(change, answers[index]!);
    }
    return changes.map((change) => results.get(change)!);
  }

  private async request(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    this.watcher.writes(this.process, this.modelTargets.get(target.identifier)!, changes);
    if (this.faults.isInDoubt()) return this.inDoubt(target, changes);
    try {
      return await this.call('applyChanges', target, (modelTarget) => {
        this.delayVisibility(modelTarget);
        return changes.map((change) => this.apply(modelTarget, change, 'engine'));
      });
    } catch (error) {
      return changes.map(() => refused((error as DriverError).kind, (error as DriverError).retryAfterMs));
    }
  }

  /** The request takes effect within its deadline, or never. It is never answered. */
  private async inDoubt(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const { callTimeoutMs } = this.traits;
    const modelTarget = this.modelTargets.get(target.identifier)!;
    if (this.random.happens(0.7)) {
      const arriving = changes.filter(() => this.random.happens(0.8));
      this.scheduler.in(this.random.between(10, callTimeoutMs), () => {
        if (modelTarget.isMissing) return;
        this.delayVisibility(modelTarget);
        for (const change of arriving) this.apply(modelTarget, change, 'late');
      });
    }
    const cutAfterMs = this.random.happens(0.5) ? callTimeoutMs : this.random.between(10, callTimeoutMs);
    await this.process.wait(cutAfterMs);
    return changes.map(() => ({ result: 'unknown', message: 'No answer in time' }));
  }

  private delayVisibility(modelTarget: ModelTarget): void {
    const staleMs = this.faults.staleMs();
    const { now } = this.scheduler;
    if (staleMs > 0) this.view(modelTarget).freeze(modelTarget, now, now + staleMs);
  }

  private view(modelTarget: ModelTarget): ReadView {
    const view = this.views.get(modelTarget.identifier) ?? new ReadView();
    this.views.set(modelTarget.identifier, view);
    return view;
  }

  private apply(modelTarget: ModelTarget, change: RuleChange, actor: Actor): ChangeResult {
    if (change.action === 'remove') {
      const wasAbsent = !modelTarget.list().some((rule) => rule.providerRuleId === change.providerRuleId);
      modelTarget.remove(change.providerRuleId, actor);
      return { result: 'done', providerRuleId: null, ...(wasAbsent && { wasAbsent }) };
    }
    if (this.faults.refusesChange()) return refused('conflict');
    for (const id of change.replaces ?? []) modelTarget.remove(id, actor);
    const key = ruleKey(change.spec);
    if (modelTarget.rulesWith(key).length === 0 && modelTarget.list().length >= modelTarget.quota) {
      return refused('quota');
    }
    const isNew = modelTarget.rulesWith(key).length === 0;
    const providerRuleId = modelTarget.add(key, change.ruleId, actor, change.endsAt);
    return { result: 'done', providerRuleId, ...(isNew && { isNew }) };
  }

  private call<Answer>(
    what: string,
    target: CloudTarget,
    work: (modelTarget: ModelTarget) => Answer,
  ): Promise<Answer> {
    const modelTarget = this.modelTargets.get(target.identifier)!;
    return new Promise((resolve, reject) => {
      this.scheduler.in(this.faults.answerMs(), () => {
        const refusal = modelTarget.isMissing
          ? { kind: 'target-missing' as const, retryAfterMs: null }
          : this.faults.refusal(modelTarget, target.credential.data['id']!);
        if (refusal) {
          const error = new DriverError(refusal.kind, `The cloud says ${refusal.kind}`, refusal.retryAfterMs);
          this.process.step(what, () => reject(error));
          return;
        }
        const answer = work(modelTarget);
        this.process.step(what, () => resolve(answer));
      });
    });
  }
}

const refused = (kind: DriverErrorKind, retryAfterMs: number | null = null): ChangeResult => ({
  result: 'refused',
  kind,
  message: `The cloud says ${kind}`,
  ...(retryAfterMs !== null && { retryAfterMs }),
});
