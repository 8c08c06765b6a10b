import { LIST, MODIFY, list, host, add, kinds, thrown, PrefixListBench } from './aws-prefix-list-bench';

/** Changes take longer than the driver's timeout. */
describe('An AWS prefix list whose changes exceed the timeout', () => {
  let bench: PrefixListBench;

  beforeAll(async () => {
    bench = await PrefixListBench.start({ listChangeMs: 600_000 });
  });
  beforeEach(async () => {
    await fetch(`${bench.cloud.url}/_reset`, { method: 'POST' });
  });
  afterAll(() => bench.close());

  it('refuses a write while a change of another writer is in progress', async () => {
    await bench.injectFault({ operation: MODIFY, kind: 'slow', delayMs: 400 });
    const applied = bench.apply(add(host(1)));
    await bench.arrived(MODIFY);
    const answers = await Promise.all([bench.addByOtherDeployment('198.51.100.7/32'), applied]);
    const message = expect.stringContaining('IncorrectState') as unknown;
    expect(answers).toMatchObject([['unknown'], [{ result: 'refused', kind: 'conflict', message }]]);
  });

  it('has an unknown outcome, and can be neither read nor written while the change is in progress', async () => {
    expect(kinds(await bench.apply(add(host(1))))).toEqual(['unknown']);
    const [reading, results] = await Promise.all([
      thrown(bench.driver.readRules(list())),
      thrown(bench.apply(add(host(2)))),
      bench.driver.verify(list(), {}),
    ]);
    expect([reading, results]).toMatchObject([
      { kind: 'conflict', message: `${LIST} is being changed right now` },
      { kind: 'conflict' },
    ]);
    expect(await bench.changes()).toEqual([1, 1]);
  });
});
