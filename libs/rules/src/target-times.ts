import { APPLY_TIMEOUT_MS } from './waits';

/** How long a provider may take to carry out a change of a target. */
export interface TargetTimes {
  /** how long a removal may take before it counts as late */
  readonly closesWithinSeconds: number;
  /** after this time an addition is given up; a removal is not */
  readonly applyTimeoutMs: number;
}

const USUAL: TargetTimes = { closesWithinSeconds: 5, applyTimeoutMs: APPLY_TIMEOUT_MS };

/** Types of targets that are known to be slower. Here and not with the drivers: statements need them, too. */
export const SLOW_TARGETS: Readonly<Record<string, TargetTimes>> = {
  POSTGRESQL_FLEXIBLE_SERVER: { closesWithinSeconds: 120, applyTimeoutMs: 600_000 },
  MYSQL_FLEXIBLE_SERVER: { closesWithinSeconds: 120, applyTimeoutMs: 600_000 },
  EKS_CLUSTER: { closesWithinSeconds: 600, applyTimeoutMs: 1_200_000 },
};

/** @param resourceType of the target */
export const targetTimes = (resourceType: string): TargetTimes =>
  Object.hasOwn(SLOW_TARGETS, resourceType) ? SLOW_TARGETS[resourceType]! : USUAL;

/** How much longer than usual removals may take there, in seconds. */
export const slowerBySeconds = (resourceType: string): number =>
  targetTimes(resourceType).closesWithinSeconds - USUAL.closesWithinSeconds;
