import type { DriverErrorKind } from '#rules';
import type { Chance } from './chance';
import type { CloudObject } from './model-cloud';
import type { CloudMood } from './model-driver';
import type { Scheduler } from './scheduler';
import type { Mishap } from './simulated-process';

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
/** A cloud may deny that its object exists for less than the product takes for a proof, ms. */
const MIN_PROOF_MS = 30_000;
const CALL_DEADLINE_MS = 5000;
const LONG_MS = 150_000;
const STUBBORN_MS = 100_000;
/** How likely what is asked right after a lost connection is lost too. */
const ONCE_MORE = 0.7;

/** What goes wrong in one history, and until when. Each kind is in some histories only, so that some meet alone. */
export class Faults implements CloudMood {
  /** nothing goes wrong after this */
  readonly calmAt: number;
  readonly isHealthy: boolean;
  private readonly rates: { pause: number; death: number; connection: number };
  /** a target refuses everybody for longer than it takes until what is overdue is reported */
  private readonly isStubborn: boolean;
  private readonly inDoubtRate: number;
  private readonly partialRate: number;
  private readonly staleness: number;
  private readonly wakeUpsLost: number;
  private readonly refusals: Refusal[] = [];
  private readonly disconnected = new Set<string>();
  private lastEnd = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly chance: Chance,
    private readonly tell: (words: string) => void,
  ) {
    this.isHealthy = chance.happens(0.12);
    this.isStubborn = !this.isHealthy && chance.happens(0.1);
    this.calmAt = this.isStubborn ? LONG_MS : chance.pick([40_000, 60_000, 90_000, LONG_MS]);
    const sometimes = (value: number): number => (!this.isHealthy && chance.happens(0.4) ? value : 0);
    this.rates = {
      pause: sometimes(chance.between(0.002, 0.03)),
      death: sometimes(chance.between(0.002, 0.03)),
      connection: sometimes(chance.between(0.002, 0.03)),
    };
    this.inDoubtRate = sometimes(chance.between(0.05, 0.6));
    this.partialRate = sometimes(0.2);
    this.staleness = sometimes(chance.between(500, 3000));
    this.wakeUpsLost = chance.happens(0.5) ? 0 : chance.next();
  }

  /** Plans when the clouds refuse. */
  plan(objects: readonly CloudObject[], credentialIds: readonly string[]): void {
    if (this.isStubborn) this.refuseForLong(this.chance.pick(objects));
    if (this.isHealthy || this.chance.happens(0.4)) return;
    const flapped = new Set<string>();
    for (let left = this.chance.whole(1, 3); left > 0; left -= 1) {
      const kind = this.chance.pick(REFUSALS);
      const { identifier } = this.chance.pick(objects);
      if (kind === 'target-missing' && flapped.has(identifier)) continue;
      flapped.add(identifier);
      const longest = kind === 'target-missing' ? MIN_PROOF_MS - 2000 : this.calmAt / 2;
      const from = this.chance.between(0, this.calmAt * 0.9);
      const to = Math.min(this.calmAt, from + this.chance.between(1000, longest));
      const retryAfterMs = kind === 'throttled' && this.chance.happens(0.5) ? 2000 : null;
      const credentialId = kind === 'denied' ? this.chance.pick(credentialIds) : null;
      this.refusals.push({ kind, from, to, identifier, credentialId, retryAfterMs });
      this.scheduler.at(from, () => this.lasts(`${identifier} answers ${kind}`, to));
    }
  }

  private refuseForLong({ identifier }: CloudObject): void {
    const from = this.chance.between(2000, LONG_MS - STUBBORN_MS);
    const to = from + STUBBORN_MS;
    this.refusals.push({ kind: 'denied', from, to, identifier, credentialId: null, retryAfterMs: null });
    this.scheduler.at(from, () => this.lasts(`${identifier} answers denied`, to));
  }

  /** A fault has begun that lasts until then. */
  lasts(words: string, until: number): void {
    this.lastEnd = Math.max(this.lastEnd, until);
    this.tell(`FAULT ${words}, until ${(until / 1000).toFixed(1)} s`);
  }

  /** When the last of the faults that have begun ends. */
  get endsAt(): number {
    return this.lastEnd;
  }

  private get areOn(): boolean {
    return this.scheduler.now < this.calmAt;
  }

  mishap(name: string, step: string): Mishap {
    if (!this.areOn) return null;
    const { now } = this.scheduler;
    if (step.startsWith('asks ')) {
      const again = this.disconnected.delete(name);
      if (!this.happens(again ? ONCE_MORE : this.rates.connection)) return null;
      if (!again) this.disconnected.add(name);
      this.lasts(`${name} loses its connection as it ${step}`, now);
      return { kind: 'lost-connection' };
    }
    if (this.happens(this.rates.pause)) {
      const ms = this.chance.between(1000, 40_000);
      this.lasts(`${name} stands still after ${step}`, now + ms);
      return { kind: 'pause', ms };
    }
    if (!this.happens(this.rates.death)) return null;
    this.lasts(`${name} dies after ${step}`, now);
    return { kind: 'death' };
  }

  private happens(rate: number): boolean {
    return rate > 0 && this.chance.happens(rate);
  }

  /** Whether a wake-up gets lost on its way. */
  losesWakeUp(): boolean {
    return this.wakeUpsLost > 0 && this.chance.happens(this.wakeUpsLost);
  }

  refusing(
    object: CloudObject,
    credentialId: string,
  ): { kind: DriverErrorKind; retryAfterMs: number | null } | null {
    const { now } = this.scheduler;
    return (
      this.refusals.find(
        (refusal) =>
          refusal.from <= now &&
          now < refusal.to &&
          refusal.identifier === object.identifier &&
          (refusal.credentialId === null || refusal.credentialId === credentialId),
      ) ?? null
    );
  }

  isInDoubt(): boolean {
    if (!this.areOn || !this.happens(this.inDoubtRate)) return false;
    this.lasts('a change is not answered', this.scheduler.now + CALL_DEADLINE_MS);
    return true;
  }

  isPartial(): boolean {
    if (!this.areOn || !this.happens(this.partialRate)) return false;
    this.lasts('a change of a batch is refused', this.scheduler.now);
    return true;
  }

  staleMs(): number {
    if (!this.areOn || this.staleness === 0) return 0;
    const ms = this.chance.between(0, this.staleness);
    this.lasts('reads are stale', this.scheduler.now + ms);
    return ms;
  }
}
