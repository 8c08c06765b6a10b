import type { Provider } from '#rules';

/** Both run the same convergence. The name is informational and decides the priority: removals come first. */
export type JobName = 'revoke-rules' | 'apply-rules';

/** Only an id: the worker reads from the database what is due. */
export interface ConvergeJob {
  readonly targetId: string;
}

/** Lower runs first. */
export const JOB_PRIORITY: Readonly<Record<JobName, number>> = { 'revoke-rules': 1, 'apply-rules': 2 };

/** One queue per provider, so that a throttled one does not delay the others. */
export const queueName = (provider: Provider): string => `converge-${provider.toLowerCase()}`;
