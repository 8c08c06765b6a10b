import { ActionBench, JOB_ADDRESS } from '../builders/programs/action-bench';
import { group, sshTo } from '../builders/accounts/organization';
import type { TimelineEntry } from '../harness/product/simulator-client';
import { ActionJob } from '../harness/product/action-job';
import { node24 } from '../harness/machines/node-24';
import { containing, matching } from '../harness/matching';
import { until } from '../harness/until';
import { vanishingNode } from '../harness/machines/vanishing-node';

const LEASE_SECONDS = 60;
const JOBS = 20;
/** Jobs that begin or end at the same time: they share this machine's processors with the server. */
const WAVE = 5;

const node = node24();

(node ? describe : describe.skip)('A CI job with access', () => {
  const bench = ActionBench.own(node, sshTo(2));

  /** What happened to the address on the first group, in order. */
  async function changes(since: number): Promise<TimelineEntry[]> {
    const entries = await bench.drawbridge.cloud.timeline(since);
    return entries.filter(({ address, target }) => address === JOB_ADDRESS && target === group(0));
  }

  it('on a machine that is gone loses it after its lease', async () => {
    const began = Date.now() * 1000;
    const job = bench.job({ lease: String(LEASE_SECONDS) });
    expect((await job.main()).code).toBe(0);
    expect(job.processes()).toHaveLength(1);
    job.killAll();
    const killedAt = Date.now();
    const [session] = await bench.live();
    const leaseUntil = Date.parse(session!.leaseUntil!);
    expect(leaseUntil).toBeLessThanOrEqual(killedAt + 1000 * LEASE_SECONDS);
    await until('nobody is allowed', async () => (await bench.allowed()).length === 0, 2000 * LEASE_SECONDS);
    const [opened, closed] = await changes(began);
    expect([opened!.event, closed!.event]).toEqual(['opened', 'closed']);
    expect(closed!.at / 1000).toBeGreaterThanOrEqual(leaseUntil);
  });

  /** @returns the API's return */
  const away = async (): Promise<() => Promise<void>> => {
    const port = await bench.proxy.sever();
    return () => bench.proxy.restore(port);
  };
  const silent = async (): Promise<() => Promise<void>> => {
    bench.proxy.answerInstead = ({ url = '' }) => url.endsWith('/stop');
    return async () => void (bench.proxy.answerInstead = null);
  };

  it.each([
    ['is away', away],
    ['accepts and never answers', silent],
  ])(
    'loses it after the return of an API that %s during its post step, which says when it ends',
    async (_, begin) => {
      const job = bench.job();
      expect((await job.main()).code).toBe(0);
      const comeBack = await begin();
      const { code, output } = await job.post();
      expect(code).toBe(0);
      const latest =
        /::warning::It is not known whether the access was stopped \(.*\): it ends at (\S+Z) at the latest/;
      const [session] = await bench.drawbridge.query<{ until: Date; end: Date }>(
        `SELECT lease_until AS until, expires_at AS end FROM sessions WHERE id = $1`,
        [job.outputs['session-id']],
      );
      const said = new Date(latest.exec(output)![1]!);
      expect([said >= session!.until, said <= session!.end]).toEqual([true, true]);
      expect(output).not.toContain('Fix:');
      expect(job.summary).toContain('at the latest');
      // the job is over, and its runner ends what it finds of it
      job.killAll();
      await comeBack();
      await until('nobody is allowed', async () => (await bench.allowed()).length === 0);
    },
  );

  it(`beside ${JOBS - 1} others behind one address keeps it until its own end`, async () => {
    const began = Date.now() * 1000;
    const jobs = Array.from({ length: JOBS }, () => bench.job());
    for (let first = 0; first < JOBS; first += WAVE) {
      const starts = await Promise.all(jobs.slice(first, first + WAVE).map((job) => job.main()));
      expect(starts.filter(({ code }) => code !== 0)).toEqual([]);
    }
    expect(new Set(jobs.map(({ outputs }) => outputs['session-id'])).size).toBe(JOBS);
    let lastStop = 0;
    for (let first = 0; first < JOBS; first += WAVE) {
      // every job that is still at work has its rule
      expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
      lastStop = Date.now();
      const ends = await Promise.all(jobs.slice(first, first + WAVE).map((job) => job.post()));
      expect(ends.filter(({ code }) => code !== 0)).toEqual([]);
    }
    expect(await bench.allowed()).toEqual([]);
    const seen = await changes(began);
    expect(seen.map(({ event }) => event)).toEqual(['opened', 'closed']);
    expect(seen[1]!.at / 1000).toBeGreaterThan(lastStop);
  });

  it('keeps it while the server is away for less than the lease, and its post step says so', async () => {
    const job = bench.job({ lease: String(LEASE_SECONDS) });
    expect((await job.main()).code).toBe(0);
    const port = await bench.proxy.sever();
    const noted = (text: string): Promise<boolean> =>
      until(`the renewer notes: ${text}`, () => Promise.resolve(job.publicFiles.includes(text)));
    await noted('The access could not be renewed');
    await bench.proxy.restore(port);
    await noted('The access was renewed again');
    expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
    const { code, output } = await job.post();
    expect(code).toBe(0);
    expect(output).toMatch(/^::warning::\S+ The access could not be renewed/m);
    expect(output).toMatch(/The rules were removed/);
    expect(job.summary).toContain('The access was renewed again');
    expect(await bench.allowed()).toEqual([]);
  });

  it('is told when no process can outlive it to end the access, and when that ends at the latest', async () => {
    const own = vanishingNode(node!);
    const inputs = { url: bench.proxy.url, trust: bench.trust.audience };
    const job = new ActionJob(own.node, inputs, { variables: bench.endpoint.variables });
    try {
      expect((await job.main()).code).toBe(0);
      bench.proxy.answerInstead = ({ url = '' }) => {
        // the post step runs
        if (url.endsWith('/stop')) own.vanish();
        return url.endsWith('/stop');
      };
      const { code, output } = await job.post();
      expect(code).toBe(0);
      expect(output).toMatch(
        /::warning::.* ends at \S+Z at the latest: no process that outlives this job could be started \(spawn/,
      );
    } finally {
      bench.proxy.answerInstead = null;
      own.vanish();
      job.remove();
    }
  });

  it('does not get it from a server that cannot be reached, after three attempts', async () => {
    const url = 'http://127.0.0.1:2';
    const { code, output } = await bench.job({ url }).main();
    const reason = 'cannot be reached: nothing listens there (ECONNREFUSED). Fix: check the input url';
    expect(code).toBe(1);
    expect(output).toContain(`::error::${url} ${reason}`);
    expect(output.match(/trying again in [24] s/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('that was killed before it had any does not get it from its post step', async () => {
    const job = bench.job();
    const ended = job.main();
    await until('the main step runs', () => Promise.resolve(job.processes().length > 0));
    job.signal('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    expect(job.saved).toEqual({});
    expect(await job.post()).toMatchObject({ code: 0, output: 'No access was started\n' });
    expect(await bench.live()).toEqual([]);
  });

  it('ends it with its post step when its main step was killed while its rules were applied', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'slow', delayMs: 1_500, count: 20 });
    const job = bench.job();
    const ended = job.main();
    await bench.sessionStarts();
    await until('the state is saved', () => Promise.resolve(job.hasSaved('access')));
    job.signal('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    expect((await job.post()).code).toBe(0);
    expect(await bench.live()).toEqual([]);
    await until('nobody is allowed', async () => (await bench.allowed()).length === 0);
  });

  it('several addresses: a session for each with addresses: all, a warning without', async () => {
    // from which nobody has asked: detection is limited, and then no pool is seen
    const pool = ['203.0.113.41', '203.0.113.42'];
    bench.proxy.addresses = pool;
    try {
      const warned = bench.job();
      const warning = '::warning::Connections of this runner leave through several';
      expect((await warned.main()).output).toContain(warning);
      await warned.post();
      const job = bench.job({ addresses: 'all' });
      expect((await job.main()).code).toBe(0);
      expect((await bench.allowed()).toSorted()).toEqual(pool);
      expect(job.outputs['session-id']!.split(',')).toHaveLength(2);
      await job.post();
      expect(await bench.allowed()).toEqual([]);
    } finally {
      bench.proxy.addresses = [JOB_ADDRESS];
    }
  });

  it('a refused rule; with allow-partial the job goes on', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'refuse', target: group(1), seconds: 60 });
    const failing = bench.job();
    const refused =
      /^::error::Some rules were refused: 203\.0\.113\.40 on .+Fix: correct them, or set allow-partial: true\.$/m;
    expect(await failing.main()).toMatchObject({ code: 1, output: matching(refused) });
    expect(await bench.live()).toEqual([]);
    const job = bench.job({ 'allow-partial': 'true' });
    const warned = containing('::warning::Some rules were refused');
    expect(await job.main()).toMatchObject({ code: 0, output: warned });
    expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
    await bench.drawbridge.cloud.clearFaults();
    expect((await job.post()).code).toBe(0);
  });
});
