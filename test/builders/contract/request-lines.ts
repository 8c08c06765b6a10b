import { randomUUID } from 'node:crypto';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

/** The API's log, including the line of every request that was answered before. */
export async function logOf(drawbridge: Pick<Drawbridge, 'api' | 'apiServer'>): Promise<string> {
  const path = `/sessions/${randomUUID()}`;
  await drawbridge.api.get(path);
  return until(`the log has a line of ${path}`, () => {
    const { output } = drawbridge.apiServer;
    return Promise.resolve(output.includes(path) && output);
  });
}
