import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import type { Session } from '../harness/product/api-client';

const MINUTES_AND_TIME = /\d\d:\d\d \(in 5\d min\)/;

describe('The command line has habits', () => {
  const bench = CliBench.own();

  afterEach(async () => {
    await bench.drawbridge.cloud.clearFaults();
    await bench.cli.run('stop --all');
  });

  const run = (words: string): ReturnType<CliBench['cli']['run']> => bench.cli.run(words);
  const start = (words = 'start'): Promise<Session> => bench.cli.json<Session>(words);

  it('shows how long a session lasts, and until when on this clock', async () => {
    const { id } = await start();
    for (const command of ['list', 'status']) expect((await run(command)).stdout).toMatch(MINUTES_AND_TIME);
    expect((await run(`stop ${id}`)).stdout).toMatch(/\d\d:\d\d \((?:now|\d+ s ago)\)/);
  });

  it('takes the beginning of an id for the id, where it is the only one', async () => {
    const { id } = await start();
    const short = id.slice(0, 8);
    expect(JSON.parse((await run(`status ${short} --json`)).stdout)).toMatchObject({ id });
    expect((await run(`extend ${short}`)).code).toBe(0);
    const unknown = await run('stop ffffffff');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('There is no session "ffffffff"');
    expect((await run(`stop ${short}`)).code).toBe(0);
  });

  it('stop without an id stops the only session; of several it wants one, of none it says so', async () => {
    const none = await run('stop');
    expect({ code: none.code, stdout: none.stdout }).toEqual({ code: 0, stdout: 'No session is open.\n' });
    const first = await start();
    await start('start --ipv4 203.0.113.90');
    const several = await run('stop');
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('2 sessions are open');
    expect(several.stderr).toContain(first.id.slice(0, 8));
    expect((await run(`stop ${first.id}`)).code).toBe(0);
    expect((await run('stop')).stdout).toContain('CANCELLED');
    const empty = await run('stop ');
    expect([empty.code, empty.stderr.includes('empty')]).toEqual([2, true]);
  });

  it('a second start for one address says that the first is open', async () => {
    const first = await start();
    const second = await run('start');
    expect(second.stderr).toContain(`${CLI_ADDRESS} has access already`);
    expect(second.stderr).toContain(first.id.slice(0, 8));
    expect(second.stderr).toContain('stop --all ends all of your sessions');
    expect((await run('list')).stdout.trim().split('\n')).toHaveLength(3);
  });

  it('all that is missing is said at once, with an example', async () => {
    const { code, stderr } = await run('static-rules add');
    expect(code).toBe(2);
    for (const part of ['<address>', '--label', '--resource', 'drawbridge static-rules add 198.51.100.0/24'])
      expect(stderr).toContain(part);
  });

  it('run says what is still open, and why', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    const { code, stderr } = await run('run -- true');
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`${CLI_ADDRESS} on resource-0 is still open: .+`));
  });

  it('run says that the server has refused to stop its session', async () => {
    bench.proxy.answerInstead = ({ url }, answer) => {
      const isStop = url!.endsWith('/stop');
      if (isStop) answer.writeHead(403, { 'Content-Type': 'application/json' }).end('{"message":"Not now"}');
      return isStop;
    };
    const { stderr } = await run('run -- true');
    expect(stderr).toMatch(/not known whether the access was stopped \(.*Not now.*\): the access ends at /);
  });
});
