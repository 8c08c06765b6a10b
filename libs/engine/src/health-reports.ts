import type { HealthReport, NamingResource } from '#engine-store';

/**
 * Health events of resources after a comparison. An unchanged outcome is reported only if the comparison was requested.
 * @param problem null: none
 * @param requested a caller waits for the outcome
 */
export function healthReports(
  resources: readonly NamingResource[],
  problem: string | null,
  requested: boolean,
): HealthReport[] {
  return resources.flatMap((resource): HealthReport[] => {
    const { lastOutcome } = resource;
    const failedBefore = lastOutcome?.eventType === 'RECONCILE_FAILED';
    const isNews = problem === null ? lastOutcome === null || failedBefore : lastOutcome?.message !== problem;
    if (!isNews && !requested) return [];
    if (problem !== null) return [{ resources: [resource], eventType: 'RECONCILE_FAILED', message: problem }];
    const message =
      failedBefore && lastOutcome.message !== null ? `In order again: ${lastOutcome.message}` : null;
    return [{ resources: [resource], eventType: 'RECONCILE_OK', message }];
  });
}
