import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CLI_ADDRESS, CliBench, isRunning } from '../builders/programs/cli-bench';
import { group } from '../builders/accounts/organization';
import { processesOf } from '../harness/product/action-job';
import { CLI, type Run } from '../harness/product/command-line';
import { freePort } from '../harness/network/free-port';
import { until } from '../harness/until';

/** Prints its pid, counts signals, and ends half a second after the first one, with the count as its code. */
const COUNTING = `let count = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => { count += 1; if (count === 1) setTimeout(() => process.exit(10 + count), 500); });
setInterval(() => {}, 1000);
console.log('child ' + process.pid);`;

describe('run gives access while a command runs', () => {
  const bench = CliBench.own();
  let counting: string;

  beforeAll(() => {
    counting = join(bench.cli.home, 'counting.cjs');
    writeFileSync(counting, COUNTING);
  });

  const run = (...args: readonly string[]): ReturnType<CliBench['cli']['run']> =>
    bench.cli.run(['run', ...args]);

  /** Runs the counting child. @returns its pid beside the run */
  async function counted(options: readonly string[] = [], env = {}): Promise<{ going: Run; child: number }> {
    const going = bench.cli.start(['run', ...options, '--', process.execPath, counting], env);
    await going.prints('child ');
    return { going, child: Number(/child (\d+)/.exec(going.stdout)![1]) };
  }

  it('the rule is there for the command, and gone when it has ended', async () => {
    const ask = `fetch('${bench.drawbridge.cloud.url}/_rules?provider=AWS').then((r) => r.text()).then(console.log)`;
    const { code, stdout, stderr } = await run('--', process.execPath, '-e', ask);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^(?:drawbridge: waiting [^\n]+\n)?drawbridge: \S+ may connect until the command ends, at most until \d\d:\d\d \(in 59 min\)\n$/,
    );
    expect(stderr).toContain(`drawbridge: ${CLI_ADDRESS} `);
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ target: group(0), address: CLI_ADDRESS })]);
    expect(await bench.live()).toEqual([]);
  });

  it.each([
    [['sh', '-c', 'exit 7'], 7],
    [['sh', '-c', 'kill -TERM $$'], 143],
    [['sh', '-c', 'kill -KILL $$'], 137],
    [['no-such-program-here'], 127],
    [['/etc/passwd'], 126],
  ])('%j ends with its own code %i', async (command, expected) => {
    expect((await run('--', ...command)).code).toBe(expected);
    expect(await bench.live()).toEqual([]);
  });

  it('the command reads and writes what the caller does, and its options are its own', async () => {
    const reading = ['run', 'sh', '-c', 'read line; echo "got $line"'];
    const ended = await bench.cli.run(reading, 'a line\n');
    expect(ended).toMatchObject({ stdout: 'got a line\n', code: 0 });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s reaches the command once, and the access ends with it',
    async (signal) => {
      const { going, child } = await counted();
      await bench.allows(CLI_ADDRESS);
      process.kill(going.pid, signal);
      expect((await going.ended).code).toBe(11);
      expect(isRunning(child)).toBe(false);
      expect(await bench.live()).toEqual([]);
    },
  );

  it('a signal before the command starts: it never starts, and nothing stays', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'slow', delayMs: 3_000, count: 10 });
    const going = bench.cli.start(['run', '--', process.execPath, counting]);
    await until('a session is started', async () => (await bench.live()).length > 0);
    process.kill(going.pid, 'SIGTERM');
    expect(await going.ended).toMatchObject({ code: 143, stdout: '' });
    expect(await bench.live()).toEqual([]);
  });

  it('the end of what started it ends the command and the access', async () => {
    const pids = join(bench.cli.home, 'pids');
    const script = `"${process.execPath}" "${CLI}" run -- "${process.execPath}" "${counting}" >"${pids}" & wait`;
    const parent = spawn('sh', ['-c', script], { env: bench.cli.environment, cwd: bench.cli.home });
    const [, child] = await until('the child runs', () =>
      Promise.resolve(/child (\d+)/.exec(readIfPresent(pids))),
    );
    await bench.allows(CLI_ADDRESS);
    parent.kill('SIGKILL');
    await until('the child has ended', () => Promise.resolve(!isRunning(Number(child))));
    await bench.allows();
    expect(await bench.live()).toEqual([]);
  });

  it('when rules are refused the command does not run: 3 with some, 4 with none', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'refuse', target: group(0), count: 100 });
    const { code, stdout, stderr } = await run('--', 'echo', 'ran');
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(`${CLI_ADDRESS} on resource-0: `);
    expect(stderr).not.toContain('not known whether');
  });

  it('--probe waits until the port accepts connections', async () => {
    const port = await freePort();
    const server = createServer((socket) => socket.destroy());
    const going = bench.cli.start(['run', '--probe', `127.0.0.1:${port}`, '--', 'echo', 'ran']);
    await going.prints(`waiting until 127.0.0.1:${port} accepts connections`);
    await bench.allows(CLI_ADDRESS);
    expect(going.stdout).toBe('');
    server.listen(port, '127.0.0.1');
    const ended = await going.ended;
    server.close();
    expect(ended).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  it('an API that is away when the command ends: the access is closed after its return, without `run`', async () => {
    const job = { RUNNER_TRACKING_ID: `github_${randomUUID()}` };
    const { going } = await counted([], job);
    const port = await bench.proxy.sever();
    process.kill(going.pid, 'SIGTERM');
    await going.prints('goes on asking for its end');
    expect(going.stderr).toMatch(
      /the access ends at \d\d:\d\d \(in [45] min\) at the latest, and a process in the background/,
    );
    // as a runner does with what it finds of a job that is over
    for (const pid of processesOf(job.RUNNER_TRACKING_ID)) process.kill(pid, 'SIGKILL');
    await going.ended;
    await bench.proxy.restore(port);
    await bench.allows();
  });

  it('a pool of addresses is said; --addresses all holds a session for each', async () => {
    // what one address may ask for is used up by the other tests
    const pool = ['203.0.113.17', '203.0.113.18'];
    bench.proxy.addresses = pool;
    const one = await run('--', 'true');
    expect(one.stderr).toContain('connections leave through several addresses');
    const { going } = await counted(['--addresses', 'all']);
    bench.proxy.addresses = [CLI_ADDRESS];
    await bench.allows(...pool);
    process.kill(going.pid, 'SIGTERM');
    expect((await going.ended).code).toBe(11);
    expect(await bench.live()).toEqual([]);
  });

  describe('secrets', () => {
    const PRINT_KEY = 'echo "key=$DRAWBRIDGE_API_KEY session=${#DRAWBRIDGE_SESSION_ID}"';

    it('no argument of any process holds the key or the token of a session', async () => {
      const { going } = await counted();
      const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
      process.kill(going.pid, 'SIGTERM');
      const { stdout, stderr } = await going.ended;
      expect(processes).toContain(counting);
      for (const text of [processes, stdout, stderr]) {
        expect(text).not.toContain(bench.key);
        expect(text).not.toContain('dbs_');
      }
    });

    it('the key of the caller’s environment reaches the command, unless it is to be left out', async () => {
      expect((await run('--', 'sh', '-c', PRINT_KEY)).stdout).toBe(`key=${bench.key} session=36\n`);
      expect((await run('--without-key', '--', 'sh', '-c', PRINT_KEY)).stdout).toBe('key= session=36\n');
    });

    it('a stored sign-in does not reach it, and nor does the token of the session', async () => {
      const { drawbridge, proxy, cli } = bench;
      const none = { DRAWBRIDGE_API_KEY: '', DRAWBRIDGE_URL: '' };
      const stored = await cli.run(`login --url ${proxy.url} --api-key-stdin`, `${bench.key}\n`, none);
      expect(stored.code).toBe(0);
      const { stdout, code } = await cli.run('run -- env', '', none);
      expect(code).toBe(0);
      const secret = readFileSync(cli.configFile, 'utf8');
      expect(secret).toContain(bench.key);
      expect(stdout).not.toContain(bench.key);
      expect(stdout).not.toContain('dbs_');
      expect([drawbridge.apiServer.output, drawbridge.worker.output].join()).not.toContain(bench.key);
    });
  });
});

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
