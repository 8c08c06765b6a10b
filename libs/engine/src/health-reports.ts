import type { HealthReport, NamingResource } from '#engine-store';

/**
 * Health events of resources after a comparison. An unchanged outcome is reported only if the comparison was requested.
 * @param problem null: none
 * @param requested a caller waits for the outcome
 * @param needsPeople Drawbridge does not put the problem right by itself, and nothing else says so
 */
export function healthReports(
  resources: readonly NamingResource[],
  problem: string | null,
  requested: boolean,
  needsPeople = false,
): HealthReport[] {
  return resources.flatMap((resource): HealthReport[] => {
    const { lastOutcome } = resource;
    const failedBefore = lastOutcome?.eventType === 'RECONCILE_FAILED';
    const isNews = problem === null ? lastOutcome === null || failedBefore : lastOutcome?.message !== problem;
    if (!isNews && !requested) return [];
    if (problem !== null)
      return [{ resources: [resource], eventType: 'RECONCILE_FAILED', message: problem, needsPeople }];
    const message =
      failedBefore && lastOutcome.message !== null ? `In order again: ${lastOutcome.message}` : null;
    return [{ resources: [resource], eventType: 'RECONCILE_OK', message, needsPeople: false }];
  });
}
