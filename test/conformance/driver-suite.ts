import type { CloudTarget } from '#drivers';
import type { DriverBench } from './driver-bench';
import { driverActions, type DriverActions } from './driver-actions';

/** Rules that fit in a target of a small bench. */
export const CAPACITY = 60;

/** The bench of a describe block. Each test starts with empty targets. */
export interface DriverSuite {
  readonly bench: DriverBench;
  /** the target of the running test */
  readonly target: CloudTarget;
  readonly actions: DriverActions;
}

/**
 * Starts one bench for the enclosing describe block and resets it before each test.
 * @param targetOf the target of the tests
 */
export function driverSuite(
  start: () => Promise<DriverBench>,
  targetOf: (bench: DriverBench) => CloudTarget = (bench) => bench.target(0),
): DriverSuite {
  let bench: DriverBench;
  let target: CloudTarget;
  const actions = driverActions(
    () => bench,
    () => target,
  );

  beforeAll(async () => {
    bench = await start();
  });
  beforeEach(async () => {
    await bench.reset();
    actions.forget();
    target = targetOf(bench);
  });
  afterAll(() => bench.close());

  return {
    get bench() {
      return bench;
    },
    get target() {
      return target;
    },
    actions,
  };
}
