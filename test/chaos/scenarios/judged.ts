import type { Drawbridge } from '../../harness/drawbridge';
import { Watch } from '../oracles/watch';

/**
 * Every test of the file that follows breaks something; after each the oracles judge what came of it. Call it after
 * the file's own `beforeAll`.
 * @returns the watch, for what a test wants to tell it
 */
export function judged(drawbridge: () => Drawbridge): () => Watch {
  let watch: Watch;
  let fault: { end(): void };
  beforeAll(async () => {
    watch = await Watch.begin(drawbridge());
  });
  beforeEach(() => {
    fault = watch.fault(expect.getState().currentTestName ?? 'a fault');
  });
  afterEach(async () => {
    fault.end();
    await watch.holds();
  }, 120_000);
  return () => watch;
}
