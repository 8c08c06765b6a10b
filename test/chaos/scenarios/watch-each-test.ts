import type { Drawbridge } from '../../harness/drawbridge';
import { Watch } from '../oracles/watch';

/**
 * Registers each test of the file as a fault, and verifies the guarantees after it. To be called after the file's own
 * `beforeAll`.
 * @returns the watch
 */
export function watchEachTest(drawbridge: () => Drawbridge): () => Watch {
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
    await watch.verify();
  }, 120_000);
  return () => watch;
}
