import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random';
import type { Bed } from './bed';
import type { Tenant } from './tenant';

const LANES = 3;
/** of each lane, between two deeds */
const MAX_PAUSE_MS = 500;
/** with more than this, sessions end rather than start */
const MAX_LIVE = 40;
const SHARED_ADDRESSES = 4;

/** People at work, in some lanes, until they are told to go home. */
export class Load {
  private working = true;
  private addresses = 0;
  private deeds = 0;
  private readonly lanes: Promise<void>[];
  private failure: unknown;

  private constructor(
    private readonly bed: Bed,
    private readonly tenants: readonly Tenant[],
    private readonly random: Random,
  ) {
    this.lanes = Array.from({ length: LANES }, () => this.lane());
  }

  static begin(bed: Bed, tenants: readonly Tenant[], random: Random): Load {
    return new Load(bed, tenants, random);
  }

  /** How much was asked for so far. @throws what a lane met that nothing explains */
  get done(): number {
    if (this.failure) throw this.failure as Error;
    return this.deeds;
  }

  /** Nobody begins anything any more. For when the run has failed. */
  abandon(): void {
    this.working = false;
  }

  /** Everybody goes home: every session ends, every static rule is deleted. Call it when all is well again. */
  async end(): Promise<void> {
    this.working = false;
    await Promise.all(this.lanes);
    if (this.failure) throw this.failure as Error;
    for (const tenant of this.tenants) await tenant.closeForGood();
    await this.bed.query(
      `UPDATE sessions SET expires_at = now() WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
    );
  }

  private async lane(): Promise<void> {
    try {
      while (this.working) {
        await this.deed();
        this.deeds += 1;
        await pause(this.random.between(0, MAX_PAUSE_MS));
      }
    } catch (error) {
      this.failure ??= error;
    }
  }

  private deed(): Promise<void> {
    const tenant = this.random.pick(this.tenants);
    const at = this.random.next();
    if (tenant.live.length > MAX_LIVE || at < 0.42) return tenant.end();
    if (at < 0.6) return tenant.startKeyed(this.freshAddress());
    if (at < 0.85) return tenant.start(this.freshAddress());
    if (at < 0.92) return tenant.start(`198.51.100.${this.random.between(1, SHARED_ADDRESSES)}`);
    if (at < 0.96) return tenant.extend();
    return tenant.openForGood(this.freshAddress());
  }

  /** One that nobody else asks for in this run. */
  private freshAddress(): string {
    this.addresses += 1;
    return `5.${(this.addresses >> 16) & 255}.${(this.addresses >> 8) & 255}.${this.addresses & 255}`;
  }
}
