import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { AddressProxy } from '../harness/network/address-proxy';
import { CommandLine } from '../harness/product/command-line';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import { containing, matching } from '../harness/matching';
import { until } from '../harness/until';

const IPV4 = '203.0.113.7';
const IPV6 = '2001:db8::7';

describe('The command line starts and stops sessions', () => {
  const drawbridge = Drawbridge.shared({ limitedAsShipped: true });
  const org = ownOrganization(drawbridge, sshTo(2));
  let ipv4: AddressProxy;
  let ipv6: AddressProxy;
  let cli: CommandLine;

  beforeAll(async () => {
    ipv6 = await AddressProxy.start(drawbridge.apiServer.port, IPV6);
    const api = await drawbridge.startApi({ PUBLIC_URL_IPV6: ipv6.url });
    ipv4 = await AddressProxy.start(api.port, IPV4);
    const key = await org.plainKey(['sessions:write', 'sessions:read', 'resources:read'], { name: 'cli' });
    cli = new CommandLine({ DRAWBRIDGE_URL: ipv4.url, DRAWBRIDGE_API_KEY: key });
  });
  afterAll(async () => {
    await cli.remove();
    await Promise.all([ipv4.stop(), ipv6.stop()]);
  });
  afterEach(() => cli.run('stop --all'));

  it('ip shows the addresses of both families, as the server observes them', async () => {
    expect((await cli.run('ip')).stdout).toBe(`${IPV4}\n${IPV6}\n`);
    expect(await cli.json('ip')).toEqual({ ipv4Address: IPV4, ipv6Address: IPV6 });
  });

  it('ip --egress finds a pool of addresses', async () => {
    ipv4.addresses = [IPV4, '203.0.113.8'];
    const { stdout, stderr, code } = await cli.run('ip --egress --output json');
    ipv4.addresses = [IPV4];
    expect(code).toBe(0);
    const { ipv4: found, isPool } = JSON.parse(stdout) as { ipv4: string[]; isPool: boolean };
    expect([found.toSorted(), isPool]).toEqual([[IPV4, '203.0.113.8'], true]);
    expect(stderr).toContain('--addresses all');
  });

  it('start allows both addresses on the named resources, and waits for the rules', async () => {
    const session = await cli.json<Session>('start -r resource-0 -r RESOURCE-1');
    expect(session).toMatchObject({ status: 'ACTIVE', ipv4Address: IPV4, ipv6Address: IPV6 });
    const rules = await drawbridge.cloud.rules();
    expect(rules.map(({ target, address }) => `${target} ${address}`).toSorted()).toEqual(
      [group(0), group(1)].flatMap((target) => [`${target} ${IPV6}`, `${target} ${IPV4}`]),
    );
    const shown = await cli.run(['status', session.id]);
    expect(shown).toMatchObject({ code: 0, stdout: containing(`${IPV4} on resource-0: APPLIED`) });
  });

  it('a session can be listed, extended, and stopped until its rules are gone', async () => {
    const { id, expiresAt } = await cli.json<Session>(['start', '--resource', org.resourceIds[0]!]);
    const { sessions } = await cli.json<{ sessions: Session[] }>('list -r resource-0');
    expect(sessions.map((session) => session.id)).toEqual([id]);
    const extended = await cli.json<Session>(['extend', id, '--hours', '2']);
    expect(Date.parse(extended.expiresAt) - Date.parse(expiresAt)).toBe(2 * 3_600_000);
    const stopped = await cli.json<{ sessions: Session[] }>(['stop', id]);
    expect(stopped.sessions[0]).toMatchObject({ id, status: 'CANCELLED' });
    expect(await drawbridge.cloud.rules()).toEqual([]);
    expect((await cli.run('list')).stdout).toBe('No session.\n');
  });

  it('shows what to connect to, and what a provider answers to a removal', async () => {
    const [id] = org.resourceIds;
    await org.admin.patched(`/resources/${id}`, { endpoint: 'db.example.com:5432' });
    const { stdout } = await cli.run('start -r resource-0');
    expect(stdout).toContain(`${IPV4} on resource-0 (db.example.com:5432): APPLIED`);
    const operation = 'RevokeSecurityGroupIngress';
    await drawbridge.cloud.fault({ kind: 'refuse', target: group(0), operation });
    await cli.run('stop --all --no-wait');
    const session = stdout.slice(0, 36);
    const shown = await until('the answer is shown', async () => {
      const status = await cli.run(['status', session]);
      return /REMOVING: .*not authorized/i.test(status.stdout) && status;
    });
    await drawbridge.cloud.clearFaults();
    expect(shown.stdout).toContain(`${session}  EXPIRING`);
    await until('it is closed', async () => (await drawbridge.cloud.rules()).length === 0);
    await org.admin.patched(`/resources/${id}`, { endpoint: null });
  });

  it('a start whose answer is lost is repeated, and starts one session', async () => {
    let lost = 0;
    ipv4.answerInstead = ({ method, url }, answer) => {
      const isStart = method === 'POST' && url!.startsWith('/api/v1/sessions');
      // the API has answered when this happens
      if (isStart && lost === 0) answer.once('pipe', () => void ((lost += 1), answer.destroy()));
      return false;
    };
    const { id } = await cli.json<Session>('start');
    ipv4.answerInstead = null;
    const { sessions } = await cli.json<{ sessions: Session[] }>('list');
    expect([lost, sessions.map((session) => session.id)]).toEqual([1, [id]]);
  });

  it('chosen addresses are taken instead of the observed ones', async () => {
    const session = await cli.json<Session>('start --ipv4 198.51.100.9');
    expect(session).toMatchObject({ ipv4Address: '198.51.100.9', ipv6Address: null });
  });

  describe('exit codes', () => {
    afterEach(() => drawbridge.cloud.clearFaults());

    it('4: rules that cannot be removed, and says why', async () => {
      await cli.run('start');
      await drawbridge.cloud.fault({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
      const { code, stdout, stderr } = await cli.run('stop --timeout 5');
      expect(stdout).toContain('EXPIRING');
      expect(stderr).toMatch(new RegExp(`${IPV4} on resource-0 is still open: .*UnauthorizedOperation`));
      expect(code).toBe(4);
    });

    it('3: some rules were refused, and says which; 4: no rule was applied', async () => {
      await drawbridge.cloud.fault({ kind: 'refuse', target: group(1), count: 100 });
      const some = await cli.run('start');
      expect(some).toMatchObject({
        code: 3,
        stdout: matching(/on resource-0: APPLIED[^]*on resource-1: FAILED/),
      });
      const none = await cli.run('start -r resource-1 --ipv4 198.51.100.9');
      expect(none).toMatchObject({ code: 4, stdout: containing('FAILED') });
    });

    it.each([
      ['start -r database', 'There is no resource "database": there are "resource-0", "resource-1"\n'],
      ['start --hours x', '--hours'],
      ['begin', "unknown command 'begin'"],
      ['stop x --all', 'not both'],
      ['run', 'command'],
      ['start --hours 24 -r resource-0 --ipv4 300.1.1.1', '--ipv4 (ipv4Address)'],
      ['run --probe nowhere -- true', '--probe must be HOST:PORT'],
    ])('2: %s names what is wrong', async (command, named) => {
      expect(await cli.run(command)).toMatchObject({ code: 2, stderr: containing(named) });
    });

    it('5: a key without the scope, with the fix', async () => {
      const DRAWBRIDGE_API_KEY = await org.plainKey(['sessions:read']);
      const { code, stderr } = await cli.run('start', '', { DRAWBRIDGE_API_KEY });
      expect(stderr).toContain('--user SERVICE_USER --scope sessions:write\n');
      expect(code).toBe(5);
    });

    it('5: nobody is signed in and no server is known, or the key is not known; 6: nothing listens there', async () => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const nowhere = { DRAWBRIDGE_URL: '', DRAWBRIDGE_API_KEY: '' };
      expect((await cli.run('list', '', nowhere)).code).toBe(5);
      expect((await cli.run('list', '', { DRAWBRIDGE_API_KEY: 'dbk_unknown' })).code).toBe(5);
      const unreached = await cli.run('list', '', { DRAWBRIDGE_URL: url });
      expect(unreached).toMatchObject({ code: 6, stderr: containing(`${url} cannot be reached`) });
    });

    it('with --output json an error is one object too', async () => {
      const error = { exitCode: 2, message: containing('"x"') };
      expect(await cli.json('start -r x', 2)).toMatchObject({ error });
      expect(await cli.json('begin', 2)).toMatchObject({ error: { exitCode: 2 } });
    });
  });
});
