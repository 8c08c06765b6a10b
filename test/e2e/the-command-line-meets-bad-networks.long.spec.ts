import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import { LocalServer } from '../harness/network/local-server';
import { CommandLine } from '../harness/product/command-line';
import { vanishingNode } from '../harness/machines/vanishing-node';

/** A session of a minute is renewed every twenty seconds, and asked for its address as often. */
const SEVERAL_RENEWALS_MS = 150_000;

describe('The command line meets bad networks', () => {
  const bench = CliBench.own();

  /** Answers the next requests to a path in place of the API. */
  const refuse = (path: RegExp, status: number, retryAfter: number, times: number): void => {
    let left = times;
    bench.proxy.answerInstead = ({ url = '' }, answer) => {
      if (!path.test(url) || left === 0) return false;
      left -= 1;
      const message = 'Too many requests: try again in 2 seconds';
      answer.writeHead(status, { 'Retry-After': String(retryAfter), 'Content-Type': 'application/json' });
      answer.end(JSON.stringify({ status, error: 'TOO_MANY_REQUESTS', message }));
      return true;
    };
  };

  it('waits as often as the server asks, and says so', async () => {
    refuse(/\/sessions/, 429, 2, 5);
    const stderr = 'drawbridge: Too many requests: trying again in 2 s\n'.repeat(5);
    expect(await bench.cli.run('list')).toMatchObject({ code: 0, stderr });
  });

  it('stops a session after a pause that the server asks for, however long the lease allows', async () => {
    refuse(/\/stop$/, 503, 12, 1);
    const { code, stderr } = await bench.cli.run('run --lease 60 -- true');
    expect(code).toBe(0);
    expect(stderr).not.toContain('not known whether');
    expect(await bench.live()).toEqual([]);
  });

  it('run says that the address has changed, which watch follows, and goes on while the API is away', async () => {
    const going = bench.cli.start('run --lease 60 -- sleep 300');
    await bench.allows(CLI_ADDRESS);
    bench.proxy.addresses = ['198.51.100.77'];
    await going.prints('198.51.100.77', SEVERAL_RENEWALS_MS);
    expect(going.stderr).toContain(`${CLI_ADDRESS} keeps the access`);
    expect(going.stderr).toContain('drawbridge watch');
    const records = await bench.org.admin.read('/audit-logs?eventType=SESSION_EXTENDED');
    expect(JSON.stringify(records)).toContain('"renewedFrom":"198.51.100.77"');
    bench.proxy.addresses = [CLI_ADDRESS];
    await going.prints(`your address is ${CLI_ADDRESS} again`, SEVERAL_RENEWALS_MS);
    const port = await bench.proxy.sever();
    await going.prints('the access cannot be renewed', SEVERAL_RENEWALS_MS);
    await bench.proxy.restore(port);
    await going.prints('the access is renewed again', SEVERAL_RENEWALS_MS);
    process.kill(going.pid, 'SIGTERM');
    // of the command, which the signal ends
    expect((await going.ended).code).toBe(143);
    expect(await bench.live()).toEqual([]);
  });

  it('says when no process in the background can end the access, and when it ends at the latest', async () => {
    const { node, vanish } = vanishingNode(process.execPath);
    const cli = new CommandLine(bench.cli.environment, node);
    try {
      const going = cli.start('run -- sleep 300');
      await bench.allows(CLI_ADDRESS);
      bench.proxy.answerInstead = ({ url = '' }) => url.endsWith('/stop');
      vanish();
      process.kill(going.pid, 'SIGTERM');
      await going.prints('no process in the background could be started (spawn');
      expect(going.stderr).toMatch(/the access ends at \d\d:\d\d .* at the latest: no process/);
      bench.proxy.answerInstead = null;
      await going.ended;
    } finally {
      vanish();
      await cli.remove();
    }
  });

  it('what stop cannot wait for is left to the background, with the caller’s credential', async () => {
    const { id } = await bench.cli.json<{ id: string }>('start');
    const port = await bench.proxy.sever();
    const going = bench.cli.start(`stop ${id}`);
    await going.prints('trying again in');
    await going.prints('goes on asking for its end');
    process.kill(going.pid, 'SIGKILL');
    await bench.proxy.restore(port);
    await bench.allows();
    expect(await bench.live()).toEqual([]);
  });

  it('a name without an address is said after one attempt', async () => {
    // Node.js then says on which connections it tries
    const env = { DRAWBRIDGE_URL: 'http://no-such-host.invalid', NODE_DEBUG: 'fetch' };
    const { code, stderr } = await bench.cli.run('list', '', env);
    expect(code).toBe(6);
    expect(stderr).toContain('its name has no address (ENOTFOUND)');
    expect(stderr.match(/: connecting to /g)).toHaveLength(1);
  });

  it('an answer that takes long is said to be waited for, and from whom', async () => {
    bench.proxy.answerInstead = (_, answer) => {
      setTimeout(() => answer.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'), 4_000);
      return true;
    };
    const stderr = `drawbridge: waiting for ${bench.proxy.url} to answer\n`;
    expect(await bench.cli.run('list')).toMatchObject({ stdout: 'No session.\n', stderr });
  });

  it('rules that take long are said to be waited for, to apply and to go', async () => {
    await bench.drawbridge.cloud.fault({ kind: 'slow', delayMs: 5_000, count: 2 });
    const started = await bench.cli.run('start');
    expect(started.stderr).toBe('drawbridge: waiting until the rules are applied\n');
    await bench.drawbridge.cloud.fault({ kind: 'slow', delayMs: 5_000, count: 2 });
    const stopped = await bench.cli.run('stop --all');
    expect(stopped.stderr).toBe('drawbridge: waiting until the rules are removed\n');
  });

  // each asks in a way of its own, or goes on after what fails
  it.each([
    'ip',
    'doctor',
    'start',
    'stop --all --timeout 1',
    'extend 11111111-1111-4111-8111-111111111111',
    'users',
    'run -- true',
    'connect localhost 22',
    'watch',
    'report --address 203.0.113.1',
    'api GET /sessions',
    'login --email ada@example.com --password-stdin',
  ])('behind a captive portal %s says that this is not Drawbridge', async (command) => {
    const headers = { 'Content-Type': 'text/html' };
    const portal = await LocalServer.start(() => ({ headers, body: '<html>Welcome, please sign in</html>' }));
    const env = {
      DRAWBRIDGE_URL: portal.url,
      ...(command.startsWith('login') && { DRAWBRIDGE_API_KEY: '' }),
    };
    const { code, stdout, stderr } = await bench.cli.run(command, 'a-password\n', env);
    await portal.stop();
    expect(stdout + stderr).toContain(`${portal.url} is not Drawbridge`);
    expect(code).toBe(6);
  });
});
