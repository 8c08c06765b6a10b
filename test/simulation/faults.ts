import type { DriverErrorKind } from '#rules';
import type { SeededRandom } from './seeded-random';
import type { ModelTarget } from './model-cloud';
import type { CloudFaults } from './model-driver';
import type { Scheduler } from './scheduler';
import type { ProcessFault } from './simulated-process';

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Refusal extends Span {
  readonly kind: DriverErrorKind;
  readonly identifier: string | null;
  readonly credentialId: string | null;
  readonly retryAfterMs: number | null;
}

const REFUSALS = ['throttled', 'transient', 'conflict', 'denied', 'target-missing'] as const;
const CALL_DEADLINE_MS = 5000;
const LONG_RUN_MS = 150_000;
/** Longer than the time after which an overdue rule is reported. */
const LONG_REFUSAL_MS = 100_000;
/** Probability that the first request after a lost connection is lost too. */
const LOST_AGAIN_PROBABILITY = 0.7;

/** The faults of one history. A history has some kinds only, so that each kind also occurs alone. */
export class Faults implements CloudFaults {
  /** no fault begins after this */
  readonly calmAt: number;
  readonly isHealthy: boolean;
  private readonly rates: { pause: number; crash: number; connection: number };
  /** one target refuses every call for LONG_REFUSAL_MS */
  private readonly hasLongRefusal: boolean;
  private readonly inDoubtRate: number;
  private readonly slowRate: number;
  private readonly partialRate: number;
  private readonly staleness: number;
  private readonly wakeUpLossRate: number;
  private readonly refusals: Refusal[] = [];
  private readonly disconnected = new Set<string>();
  private lastEnd = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly log: (message: string) => void,
  ) {
    this.isHealthy = random.happens(0.12);
    this.hasLongRefusal = !this.isHealthy && random.happens(0.1);
    this.calmAt = this.hasLongRefusal ? LONG_RUN_MS : random.pick([40_000, 60_000, 90_000, LONG_RUN_MS]);
    const sometimes = (value: number): number => (!this.isHealthy && random.happens(0.4) ? value : 0);
    this.rates = {
      pause: sometimes(random.between(0.002, 0.03)),
      crash: sometimes(random.between(0.002, 0.03)),
      connection: sometimes(random.between(0.002, 0.03)),
    };
    this.inDoubtRate = sometimes(random.between(0.05, 0.6));
    this.slowRate = sometimes(random.between(0.05, 0.4));
    this.partialRate = sometimes(0.2);
    this.staleness = sometimes(random.between(500, 3000));
    this.wakeUpLossRate = random.happens(0.5) ? 0 : random.next();
  }

  /** Schedules the refusals of the clouds. */
  plan(modelTargets: readonly ModelTarget[], credentialIds: readonly string[]): void {
    if (this.hasLongRefusal) this.addLongRefusal(this.random.pick(modelTargets));
    if (this.isHealthy || this.random.happens(0.4)) return;
    const withMissing = new Set<string>();
    for (let left = this.random.whole(1, 3); left > 0; left -= 1) {
      const kind = this.random.pick(REFUSALS);
      const { identifier } = this.random.pick(modelTargets);
      if (kind === 'target-missing' && withMissing.has(identifier)) continue;
      withMissing.add(identifier);
      const from = this.random.between(0, this.calmAt * 0.9);
      const to = Math.min(this.calmAt, from + this.random.between(1000, this.calmAt / 2));
      const retryAfterMs = kind === 'throttled' && this.random.happens(0.5) ? 2000 : null;
      const credentialId = kind === 'denied' ? this.random.pick(credentialIds) : null;
      this.refusals.push({ kind, from, to, identifier, credentialId, retryAfterMs });
      this.scheduler.at(from, () => this.register(`${identifier} answers ${kind}`, to));
    }
  }

  private addLongRefusal({ identifier }: ModelTarget): void {
    const from = this.random.between(2000, LONG_RUN_MS - LONG_REFUSAL_MS);
    const to = from + LONG_REFUSAL_MS;
    this.refusals.push({ kind: 'denied', from, to, identifier, credentialId: null, retryAfterMs: null });
    this.scheduler.at(from, () => this.register(`${identifier} answers denied`, to));
  }

  /** Registers a fault that has begun. */
  register(description: string, until: number): void {
    this.lastEnd = Math.max(this.lastEnd, until);
    this.log(`FAULT ${description}, until ${(until / 1000).toFixed(1)} s`);
  }

  /** The end of the last registered fault. */
  get endsAt(): number {
    return this.lastEnd;
  }

  private get areActive(): boolean {
    return this.scheduler.now < this.calmAt;
  }

  processFault(name: string, step: string): ProcessFault {
    if (!this.areActive) return null;
    const { now } = this.scheduler;
    if (step.startsWith('requests ')) {
      const again = this.disconnected.delete(name);
      if (!this.happens(again ? LOST_AGAIN_PROBABILITY : this.rates.connection)) return null;
      if (!again) this.disconnected.add(name);
      this.register(`${name} loses its connection as it ${step}`, now);
      return { kind: 'lost-connection' };
    }
    if (this.happens(this.rates.pause)) {
      const ms = this.random.between(1000, 40_000);
      this.register(`${name} is paused after ${step}`, now + ms);
      return { kind: 'pause', ms };
    }
    if (!this.happens(this.rates.crash)) return null;
    this.register(`${name} crashes after ${step}`, now);
    return { kind: 'crash' };
  }

  private happens(rate: number): boolean {
    return rate > 0 && this.random.happens(rate);
  }

  /** Whether a wake-up is lost. */
  losesWakeUp(): boolean {
    return this.wakeUpLossRate > 0 && this.random.happens(this.wakeUpLossRate);
  }

  refusal(
    modelTarget: ModelTarget,
    credentialId: string,
  ): { kind: DriverErrorKind; retryAfterMs: number | null } | null {
    const { now } = this.scheduler;
    return (
      this.refusals.find(
        (refusal) =>
          refusal.from <= now &&
          now < refusal.to &&
          refusal.identifier === modelTarget.identifier &&
          (refusal.credentialId === null || refusal.credentialId === credentialId),
      ) ?? null
    );
  }

  isInDoubt(): boolean {
    if (!this.areActive || !this.happens(this.inDoubtRate)) return false;
    this.register('a change is not answered', this.scheduler.now + CALL_DEADLINE_MS);
    return true;
  }

  answerMs(): number {
    if (!this.areActive || !this.happens(this.slowRate)) return this.random.between(20, 200);
    const ms = this.random.between(200, CALL_DEADLINE_MS);
    this.register('a request is answered late', this.scheduler.now + ms);
    return ms;
  }

  refusesChange(): boolean {
    if (!this.areActive || !this.happens(this.partialRate)) return false;
    this.register('a change of a batch is refused', this.scheduler.now);
    return true;
  }

  staleMs(): number {
    if (!this.areActive || this.staleness === 0) return 0;
    const ms = this.random.between(0, this.staleness);
    this.register('reads are stale', this.scheduler.now + ms);
    return ms;
  }
}
