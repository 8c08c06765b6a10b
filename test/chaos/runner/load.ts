import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random';
import type { Testbed } from './testbed';
import type { Tenant } from './tenant';

const LANES = 3;
/** of each lane, between two requests */
const MAX_PAUSE_MS = 500;
/** above this, sessions are ended instead of started */
const MAX_LIVE = 40;
const SHARED_ADDRESSES = 4;

/** Random requests of the tenants, in concurrent lanes, until `end`. */
export class Load {
  private isRunning = true;
  private addresses = 0;
  private requests = 0;
  private readonly lanes: Promise<void>[];
  private failure: unknown;

  private constructor(
    private readonly testbed: Testbed,
    private readonly tenants: readonly Tenant[],
    private readonly random: Random,
  ) {
    this.lanes = Array.from({ length: LANES }, () => this.lane());
  }

  static begin(testbed: Testbed, tenants: readonly Tenant[], random: Random): Load {
    return new Load(testbed, tenants, random);
  }

  /** Number of requests so far. @throws Error of a lane, if one failed */
  get requestCount(): number {
    if (this.failure) throw this.failure as Error;
    return this.requests;
  }

  /** Stops without cleaning up, after a failed run. */
  abandon(): void {
    this.isRunning = false;
  }

  /** Stops, ends all sessions and deletes all static rules. To be called after all faults have ended. */
  async end(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.lanes);
    if (this.failure) throw this.failure as Error;
    for (const tenant of this.tenants) await tenant.deleteStaticRules();
    await this.testbed.expireSessions();
  }

  private async lane(): Promise<void> {
    try {
      while (this.isRunning) {
        await this.sendRandom();
        this.requests += 1;
        await pause(this.random.between(0, MAX_PAUSE_MS));
      }
    } catch (error) {
      this.failure ??= error;
    }
  }

  private sendRandom(): Promise<void> {
    const tenant = this.random.pick(this.tenants);
    const dice = this.random.next();
    if (tenant.live.length > MAX_LIVE || dice < 0.42) return tenant.end();
    if (dice < 0.6) return tenant.startKeyed(this.freshAddress());
    if (dice < 0.85) return tenant.start(this.freshAddress());
    if (dice < 0.92) return tenant.start(`198.51.100.${this.random.between(1, SHARED_ADDRESSES)}`);
    if (dice < 0.96) return tenant.extend();
    return tenant.createStaticRule(this.freshAddress());
  }

  /** An address that is not used otherwise in this run. */
  private freshAddress(): string {
    this.addresses += 1;
    return `5.${(this.addresses >> 16) & 255}.${(this.addresses >> 8) & 255}.${this.addresses & 255}`;
  }
}
