import type { Provider } from '#rules';

/** Both run the same convergence; the name is for people and metrics, and removals come first. */
export type JobName = 'revoke-rules' | 'apply-rules';

/** A key, never a fact: whoever gets the job reads from the database what is due now. */
export interface ConvergeJob {
  readonly targetId: string;
}

/** Lower runs first. */
export const JOB_PRIORITY: Readonly<Record<JobName, number>> = { 'revoke-rules': 1, 'apply-rules': 2 };

/** One queue for each provider, so that a throttled one does not delay the others. */
export const queueName = (provider: Provider): string => `converge-${provider.toLowerCase()}`;
