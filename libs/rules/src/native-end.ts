import type { DueHolder } from './due-rule';
import type { Instant } from './rule';
import { isHolding } from './status';

/** Of targets whose rules end by the provider's own clock, unless they are renewed. */
export interface NativeExpiry {
  /** a rule may be written to end that much later */
  readonly maxSeconds: number;
  /** it ends that much after its last holder's planned end: usually Drawbridge has removed it by then */
  readonly marginSeconds: number;
}

/** Types whose rules have an end of their own. Seven days less an hour: what the provider allows, by any clock. */
export const NATIVE_EXPIRIES: Readonly<Record<string, NativeExpiry>> = {
  PROJECT: { maxSeconds: 7 * 86_400 - 3600, marginSeconds: 120 },
};

/** @param resourceType of the target @returns null: its rules stay until they are removed */
export const nativeExpiry = (resourceType: string): NativeExpiry | null =>
  Object.hasOwn(NATIVE_EXPIRIES, resourceType) ? NATIVE_EXPIRIES[resourceType]! : null;

/** How a provider ends rules, and the time. */
export interface ProviderClock extends NativeExpiry {
  readonly now: Instant;
}

/** How long before its end a rule is renewed whose holders outlive it, in seconds. */
const renewLeadSeconds = ({ maxSeconds, marginSeconds }: NativeExpiry): number =>
  Math.max(marginSeconds, maxSeconds / 10);

/** Of any type. */
export const LONGEST_RENEW_LEAD = Math.max(...Object.values(NATIVE_EXPIRIES).map(renewLeadSeconds));

/** Planned end of the last of these holders, seconds since 1970; null: one has no end. */
export function lastEnd(holders: readonly DueHolder[]): number | null {
  const ends = holders.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
  return ends.length < holders.length ? null : Math.max(...ends);
}

const latestEnd = ({ now, maxSeconds }: ProviderClock): number => Math.floor(now / 1000) + maxSeconds;

/**
 * When the provider should end a rule by itself, seconds since 1970: after the planned end of its last holder, so that no
 * heartbeat has to be written.
 */
export function nativeEnd(holders: readonly DueHolder[], clock: ProviderClock): number {
  const last = lastEnd(holders.filter(({ status }) => isHolding(status)));
  return Math.min(last === null ? Infinity : last + clock.marginSeconds, latestEnd(clock));
}

/**
 * Whether a rule is to be renewed. One that was written to end as late as the provider allows is not renewed again with every
 * pass.
 * @param endsAt by the provider's clock, seconds since 1970
 * @param wanted when it should end
 */
export const endsTooEarly = (endsAt: number, wanted: number, clock: ProviderClock): boolean =>
  endsAt < wanted && (wanted < latestEnd(clock) || endsAt - renewLeadSeconds(clock) <= clock.now / 1000);
