import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import type { Run } from '../harness/product/command-line';

const CALLERS = 20;
const EARLIER = 15;

describe('Many callers behind one address do not wait for each other', () => {
  let bench: CliBench;

  beforeAll(async () => {
    bench = await CliBench.start();
  });
  afterAll(() => bench.stop());
  afterEach(() => bench.cli.endRuns());

  const all = (start: () => Run): Run[] => Array.from({ length: CALLERS }, start);

  it('twenty jobs with one key run their commands right after fifteen others, and leave nothing open', async () => {
    const earlier = Array.from({ length: EARLIER }, () => bench.cli.run(['start', '-r', 'resource-0']));
    expect((await Promise.all(earlier)).map(({ code }) => code)).toEqual(earlier.map(() => 0));
    const runs = all(() => bench.cli.start(['run', '-r', 'resource-0', '--', 'true']));
    const results = await Promise.all(runs.map((run) => run.ended));
    expect(results.map(({ code }) => code)).toEqual(runs.map(() => 0));
    expect(results.filter(({ stderr }) => /too many|again in|still open/i.test(stderr))).toEqual([]);
    expect(await bench.live()).toHaveLength(EARLIER);
    await bench.cli.run(['stop', '--all']);
    expect(await bench.live()).toEqual([]);
    await bench.allows();
  });

  it('twenty people watch, and the address is allowed until the last has ended', async () => {
    const runs = all(() => bench.cli.start(['watch', '-r', bench.org.resourceIds[0]!]));
    await Promise.all(runs.map((run) => run.prints('access is held')));
    await bench.allows(CLI_ADDRESS);
    expect(await bench.live()).toHaveLength(CALLERS);
    for (const { child } of runs) child.kill('SIGINT');
    const results = await Promise.all(runs.map((run) => run.ended));
    expect(results.filter(({ stderr }) => /too many|again in/i.test(stderr))).toEqual([]);
    expect(await bench.live()).toEqual([]);
    await bench.allows();
  });
});
