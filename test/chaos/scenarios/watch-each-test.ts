import type { Drawbridge } from '../../harness/product/drawbridge';
import { Watch } from '../oracles/watch';

/**
 * Registers each test of the file as a fault, and verifies the guarantees after it. To be called after the `beforeAll`
 * that starts the deployment, and before one that starts sessions: what happened before it is not known to the watch.
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
  });
  return () => watch;
}
