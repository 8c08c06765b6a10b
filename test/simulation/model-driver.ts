import {
  DriverError,
  type CloudTarget,
  type DriverTraits,
  type ProviderDriver,
  type RuleChange,
} from '#drivers';
import { ruleKey, type ChangeResult, type DriverErrorKind, type ObservedRule } from '#rules';
import type { Chance } from './chance';
import type { CloudObject, Hand } from './model-cloud';
import type { Scheduler } from './scheduler';
import type { SimulatedProcess } from './simulated-process';

/** How the cloud is just now. */
export interface CloudMood {
  /** refuses every call, in this way */
  refusing(
    object: CloudObject,
    credentialId: string,
  ): { kind: DriverErrorKind; retryAfterMs: number | null } | null;
  /** this call is not answered */
  isInDoubt(): boolean;
  /** this change of a batch is refused for the moment */
  isPartial(): boolean;
  /** for how long this change stays unseen by those who read, ms */
  staleMs(): number;
}

/** Told of every call. */
export interface CallWatcher {
  reads(object: CloudObject, credentialId: string, observed: readonly ObservedRule[]): void;
  /** The cloud says that there is no such object. */
  misses(object: CloudObject): void;
  writes(process: SimulatedProcess, object: CloudObject, changes: readonly RuleChange[]): void;
}

/** What a reader sees: everything up to some moment, and never less than before. */
export class ReadView {
  private seen: ObservedRule[] = [];
  private freshAt = 0;

  /** @returns what is seen now */
  look(object: CloudObject, now: number): ObservedRule[] {
    if (now >= this.freshAt) this.seen = object.list();
    return this.seen.map(({ key, providerRuleId, ownRuleId }) => ({ key, providerRuleId, ownRuleId }));
  }

  /** What stands now is all that is seen until then, whatever is written. */
  freeze(object: CloudObject, now: number, until: number): void {
    if (now < this.freshAt) return;
    this.seen = object.list();
    this.freshAt = until;
  }
}

/** The clouds behind the driver port, as one worker process reaches them. */
export class ModelDriver implements ProviderDriver {
  readonly kind = 'AWS';

  constructor(
    readonly traits: DriverTraits,
    private readonly process: SimulatedProcess,
    private readonly scheduler: Scheduler,
    private readonly chance: Chance,
    private readonly objects: ReadonlyMap<string, CloudObject>,
    private readonly views: Map<string, ReadView>,
    private readonly mood: CloudMood,
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

  readRules(target: CloudTarget): Promise<ObservedRule[]> {
    return this.call('readRules', target, (object) => {
      const observed = this.view(object).look(object, this.scheduler.now);
      this.watcher.reads(object, target.credential.data['id']!, observed);
      return observed;
    });
  }

  applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    this.watcher.writes(this.process, this.objects.get(target.identifier)!, changes);
    if (this.mood.isInDoubt()) return this.inDoubt(target, changes);
    return this.call('applyChanges', target, (object) => {
      this.lag(object);
      return changes.map((change) => this.apply(object, change, 'engine'));
    });
  }

  /** The call arrives or not, early or late, within its deadline; its answer never does. */
  private async inDoubt(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const { callTimeoutMs } = this.traits;
    const object = this.objects.get(target.identifier)!;
    if (this.chance.happens(0.7)) {
      const arriving = changes.filter(() => this.chance.happens(0.8));
      this.scheduler.in(this.chance.between(10, callTimeoutMs), () => {
        if (object.isGone) return;
        this.lag(object);
        for (const change of arriving) this.apply(object, change, 'late');
      });
    }
    const cutAfterMs = this.chance.happens(0.5) ? callTimeoutMs : this.chance.between(10, callTimeoutMs);
    await this.process.wait(cutAfterMs);
    return changes.map(() => ({ result: 'unknown', message: 'No answer in time' }));
  }

  private lag(object: CloudObject): void {
    const staleMs = this.mood.staleMs();
    const { now } = this.scheduler;
    if (staleMs > 0) this.view(object).freeze(object, now, now + staleMs);
  }

  private view(object: CloudObject): ReadView {
    const view = this.views.get(object.identifier) ?? new ReadView();
    this.views.set(object.identifier, view);
    return view;
  }

  private apply(object: CloudObject, change: RuleChange, hand: Hand): ChangeResult {
    if (change.action === 'remove') {
      object.remove(change.providerRuleId, hand);
      return { result: 'done', providerRuleId: null };
    }
    if (this.mood.isPartial()) return refused('conflict');
    const key = ruleKey(change.spec);
    if (object.standing(key).length === 0 && object.list().length >= object.quota) {
      return refused('quota');
    }
    const providerRuleId = object.add(key, change.ruleId, hand);
    return { result: 'done', providerRuleId };
  }

  private call<Answer>(
    what: string,
    target: CloudTarget,
    work: (object: CloudObject) => Answer,
  ): Promise<Answer> {
    const object = this.objects.get(target.identifier)!;
    return new Promise((resolve, reject) => {
      this.scheduler.in(this.chance.between(20, 200), () => {
        const refusal = object.isGone
          ? { kind: 'target-missing' as const, retryAfterMs: null }
          : this.mood.refusing(object, target.credential.data['id']!);
        if (refusal) {
          if (refusal.kind === 'target-missing') this.watcher.misses(object);
          const error = new DriverError(refusal.kind, `The cloud says ${refusal.kind}`, refusal.retryAfterMs);
          this.process.step(what, () => reject(error));
          return;
        }
        const answer = work(object);
        this.process.step(what, () => resolve(answer));
      });
    });
  }
}

const refused = (kind: DriverErrorKind): ChangeResult => ({
  result: 'refused',
  kind,
  message: `The cloud says ${kind}`,
});
