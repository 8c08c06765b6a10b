import type { components } from './schema';

type Session = components['schemas']['SessionDto'];

/**
 * Milliseconds on a clock that is never set, and that every process of this machine reads alike. Durations are measured with
 * it: the wall clock of this machine may be wrong by hours, or be set meanwhile.
 */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** The server's time less the monotonic one; null: no answer has shown it yet. */
let ahead: number | null = null;

/**
 * Learns the server's time from an answer.
 * @param date its header, in whole seconds: where the wall clock of this machine may be right, it is taken for right
 * @param took from the request to the answer, in milliseconds
 */
export function noteServerTime(date: string | null | undefined, took: number): void {
  const second = Date.parse(date ?? '');
  if (Number.isNaN(second)) return;
  const wall = Date.now();
  const [least, most] = [second - wall, second + 1000 - wall + took];
  ahead = wall + Math.min(Math.max(0, least), most) - monotonicMs();
}

/** The time of the server that last answered, for what is shown relative to now. Before any answer: of this machine. */
export const serverNow = (): number => (ahead === null ? Date.now() : ahead + monotonicMs());

/** What another process of this machine needs to know an end. */
export interface SavedEnd {
  /** the server's time less the monotonic one */
  readonly ahead: number;
  readonly latest: number;
  readonly expiresAt: number;
}

/**
 * The end of a session whose lease this machine renews. It knows the server's time by the server's own instants and the
 * monotonic clock.
 */
export class AccessEnd {
  constructor(private state: SavedEnd) {}

  /** @param session as it was just created */
  static of({ createdAt, expiresAt, leaseUntil }: Ends & Pick<Session, 'createdAt'>): AccessEnd {
    return new AccessEnd({
      ahead: Date.parse(createdAt) - monotonicMs(),
      latest: Date.parse(leaseUntil ?? expiresAt),
      expiresAt: Date.parse(expiresAt),
    });
  }

  get saved(): SavedEnd {
    return this.state;
  }

  get serverNow(): number {
    return this.state.ahead + monotonicMs();
  }

  /** When the access ends at the latest, unless it is renewed. */
  get latest(): Date {
    return new Date(this.state.latest);
  }

  /** How long it is until then, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.state.latest - this.serverNow);
  }

  /** The lease was renewed. */
  renew({ expiresAt, leaseUntil }: Ends): void {
    const latest = Date.parse(leaseUntil ?? expiresAt);
    this.state = { ...this.state, latest, expiresAt: Date.parse(expiresAt) };
  }

  /** The lease may have been renewed until now: no answer says. */
  mayBeRenewed(leaseSeconds: number): void {
    const { latest, expiresAt } = this.state;
    const renewed = Math.min(expiresAt, this.serverNow + 1000 * leaseSeconds);
    this.state = { ...this.state, latest: Math.max(latest, renewed) };
  }
}

type Ends = Pick<Session, 'expiresAt' | 'leaseUntil'>;
