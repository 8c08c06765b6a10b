import { APPLY_TIMEOUT_MS } from './backoff';

/** Of targets whose rules end by the provider's own clock, unless they are renewed. */
export interface NativeExpiry {
  /** a rule may be written to end that much later */
  readonly maxSeconds: number;
  /** it ends that much after its last holder's planned end: usually Drawbridge has removed it by then */
  readonly marginSeconds: number;
}

/** How long a provider may take to carry out a change of a target. */
export interface TargetTimes {
  /** how long a removal may take before it counts as late */
  readonly closesWithinSeconds: number;
  /** after this time an addition is given up; a removal is never given up */
  readonly applyTimeoutMs: number;
}

const USUAL: TargetTimes = { closesWithinSeconds: 5, applyTimeoutMs: APPLY_TIMEOUT_MS };

/** Types of targets that are known to be slower. Here and not with the drivers: statements need them, too. */
export const SLOW_TARGETS: Readonly<Record<string, TargetTimes>> = {
  POSTGRESQL_FLEXIBLE_SERVER: { closesWithinSeconds: 120, applyTimeoutMs: 600_000 },
  MYSQL_FLEXIBLE_SERVER: { closesWithinSeconds: 120, applyTimeoutMs: 600_000 },
  EKS_CLUSTER: { closesWithinSeconds: 600, applyTimeoutMs: 1_200_000 },
};

/** Types whose rules have an end of their own. Seven days less an hour: what the provider allows, by any clock. */
export const NATIVE_EXPIRIES: Readonly<Record<string, NativeExpiry>> = {
  PROJECT: { maxSeconds: 7 * 86_400 - 3600, marginSeconds: 120 },
};

/** @param resourceType of the target @returns null: its rules stay until they are removed */
export const nativeExpiry = (resourceType: string): NativeExpiry | null =>
  Object.hasOwn(NATIVE_EXPIRIES, resourceType) ? NATIVE_EXPIRIES[resourceType]! : null;

/** @param resourceType of the target */
export const targetTimes = (resourceType: string): TargetTimes =>
  Object.hasOwn(SLOW_TARGETS, resourceType) ? SLOW_TARGETS[resourceType]! : USUAL;

/** How much longer than usual removals may take there, in seconds. */
export const slowerBySeconds = (resourceType: string): number =>
  targetTimes(resourceType).closesWithinSeconds - USUAL.closesWithinSeconds;
