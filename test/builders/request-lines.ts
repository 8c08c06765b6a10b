import { randomUUID } from 'node:crypto';
import type { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

/** Makes an API under test log each request. */
export const WITH_REQUEST_LINES = { LOG_LEVEL: 'info' } as const;

/**
 * The API's log, including the line of every request that was answered before.
 * @throws Error when it does not log requests: start it with `WITH_REQUEST_LINES`
 */
export async function logOf(drawbridge: Pick<Drawbridge, 'api' | 'apiServer'>): Promise<string> {
  const path = `/sessions/${randomUUID()}`;
  await drawbridge.api.get(path);
  return until(`the log has a line of ${path}`, () => {
    const { output } = drawbridge.apiServer;
    return Promise.resolve(output.includes(path) && output);
  });
}
