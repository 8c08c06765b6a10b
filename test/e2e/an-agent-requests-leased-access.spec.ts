import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { administrator, asks, readRequest } from '../builders/requests/access-requests';
import { CLI_ADDRESS, CliBench, isRunning } from '../builders/programs/cli-bench';
import { group } from '../builders/accounts/organization';
import { CLI } from '../harness/product/command-line';
import { until } from '../harness/until';

interface Access {
  readonly sessionId: string;
  readonly status: string;
  readonly expiresAt: string;
  readonly addresses: readonly string[];
}

/** `drawbridge mcp`, driven by the protocol's own client. */
describe('An agent requests leased access', () => {
  let bench: CliBench;
  let client: Client;
  let transport: StdioClientTransport;

  beforeAll(async () => {
    bench = await CliBench.start();
    // a second resource, which the user has no role for
    const body = {
      name: 'not-mine',
      credentialId: bench.org.credentialId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(3),
      region: 'eu-central-1',
      config: { port: 22 },
    };
    await bench.org.admin.expect(201, bench.org.admin.post('/resources', body));
  });
  afterAll(() => bench.stop());
  beforeEach(() => {
    bench.proxy.addresses = [CLI_ADDRESS];
    return open();
  });
  afterEach(async () => {
    await client.close();
    await bench.allows();
  });

  async function open(...args: readonly string[]): Promise<void> {
    transport = new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', ...args],
      env: bench.cli.environment,
      stderr: 'ignore',
    });
    client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
  }

  async function call<T>(name: string, given: Record<string, unknown> = {}): Promise<T> {
    const { structuredContent, isError, content } = await client.callTool({ name, arguments: given });
    if (isError) throw new Error(JSON.stringify(content));
    return structuredContent as T;
  }

  it('takes minutes, and ends the access when they are over', async () => {
    const began = Date.now();
    const { expiresAt, sessionId } = await call<Access>('request_access', {
      resources: ['resource-0'],
      minutes: 10,
    });
    const minutes = (Date.parse(expiresAt) - began) / 60_000;
    expect(minutes).toBeGreaterThan(9.5);
    expect(minutes).toBeLessThan(10.5);
    const { access } = await call<{ access: Access[] }>('list_access');
    expect(access).toMatchObject([{ sessionId, expiresAt, isFromHere: true }]);
    await call('release_access', { sessionId });
    expect(await call('list_access')).toEqual({ access: [], addresses: [CLI_ADDRESS] });
  });

  it('says which of its access is not for the address that this machine has now', async () => {
    const { sessionId } = await call<Access>('request_access', { resources: ['resource-0'] });
    bench.proxy.addresses = ['198.51.100.77'];
    const listed = await call<{ access: Access[] }>('list_access');
    expect(listed).toMatchObject({
      access: [{ sessionId, isFromHere: false, addresses: [CLI_ADDRESS] }],
      addresses: ['198.51.100.77'],
    });
  });

  it('sees the resources of its user’s roles, and no others', async () => {
    const endpoint = 'db.example.com:5432';
    await bench.org.admin.patch(`/resources/${bench.org.resourceIds[0]}`, { endpoint });
    const { resources } = await call<{ resources: object[] }>('list_resources');
    expect(resources).toMatchObject([{ name: 'resource-0', endpoint }]);
  });

  it('requests access, waits for it, and releases it', async () => {
    const requested = await call<Access>('request_access', { resources: ['resource-0'] });
    expect(requested.addresses).toEqual([CLI_ADDRESS]);
    const { sessionId } = requested;
    const applied = await call<Access>('wait_for_access', { sessionId });
    expect(applied.status).toBe('ACTIVE');
    expect(await bench.rules()).toHaveLength(1);
    const [live] = await bench.live();
    expect(live).toMatchObject({ id: sessionId, leaseUntil: expect.any(String) as string });
    await call('release_access', { sessionId });
    await bench.allows();
    await expect(call('wait_for_access', { sessionId })).rejects.toThrow('sessionId must be');
  });

  it('access that others approve is PENDING, says who they are, and is opened by the wait for it', async () => {
    await asks(bench.org, { approvals: 1 });
    const other = await administrator(bench.org);
    const wanted = { resources: ['resource-0'] };
    await expect(call('request_access', wanted)).rejects.toThrow('other administrators');
    const asked = await call<Access>('request_access', { ...wanted, reason: 'To read a table' });
    const { sessionId } = asked;
    const waitsFor = 'an approval by other administrators';
    expect(asked).toMatchObject({ status: 'PENDING', waitsFor, rules: [], addresses: [CLI_ADDRESS] });
    expect(await call('wait_for_access', { sessionId, seconds: 1 })).toMatchObject({ waitsFor });
    expect(await call('list_access')).toMatchObject({ access: [{ sessionId, status: 'PENDING' }] });
    const waiting = call<Access>('wait_for_access', { sessionId });
    await other.client.expect(200, other.client.post(`/access-requests/${sessionId}/approve`));
    expect(await waiting).toMatchObject({ sessionId, status: 'ACTIVE', waitsFor: null });
    await bench.allows(CLI_ADDRESS);
    await call('release_access', { sessionId });
    const second = await call<Access>('request_access', { ...wanted, reason: 'To read another' });
    await other.client.posted(`/access-requests/${second.sessionId}/deny`, { note: 'Not today' });
    await expect(call('wait_for_access', { sessionId: second.sessionId })).rejects.toThrow('Not today');
    const third = await call<Access>('request_access', { ...wanted, reason: 'To read a third' });
    await client.close();
    await until(
      'what the client has asked for is cancelled',
      async () => (await readRequest(bench.org.admin, third.sessionId)).status === 'CANCELLED',
    );
    await asks(bench.org, { approvals: 0 });
  });

  it('no result holds a secret', async () => {
    const results = [
      await call('list_resources'),
      await call('request_access', { resources: ['resource-0'] }),
    ];
    const text = JSON.stringify(results);
    expect(text).not.toContain(bench.key);
    expect(text).not.toContain('dbs_');
  });

  it('access ends with its client', async () => {
    await call('request_access', { resources: ['resource-0'] });
    await bench.allows(CLI_ADDRESS);
    const pid = transport.pid!;
    await client.close();
    await until('the server has ended', () => Promise.resolve(!isRunning(pid)));
    await bench.allows();
    expect(await bench.live()).toEqual([]);
  });

  it('and is closed after the return of an API that was away when its client ended', async () => {
    await call('request_access', { resources: ['resource-0'] });
    await bench.allows(CLI_ADDRESS);
    const pid = transport.pid!;
    const port = await bench.proxy.sever();
    // which kills the server
    await client.close();
    await until('the server has ended', () => Promise.resolve(!isRunning(pid)));
    await bench.proxy.restore(port);
    await bench.allows();
    expect(await bench.live()).toEqual([]);
  });

  it('a release without an answer says when the access ends, and goes on', async () => {
    const { sessionId } = await call<Access>('request_access', { resources: ['resource-0'] });
    bench.proxy.answerInstead = ({ url = '' }) => url.endsWith('/stop');
    await expect(call('release_access', { sessionId })).rejects.toThrow(/it ends at \S+Z at the latest/);
    bench.proxy.answerInstead = null;
    await bench.allows();
    await until(
      'it is listed no more',
      async () => (await call<{ access: Access[] }>('list_access')).access.length === 0,
    );
  });

  it.each([
    [{ resources: ['not-mine'] }, 'not assigned to you'],
    [{ resources: ['unknown'] }, 'There is no resource'],
    [{ resources: [] }, 'resources must be a list'],
    [{}, 'resources must be a list'],
    [{ resources: ['resource-0'], hours: 2 }, 'hours must be a whole number from 1 to 1'],
    [{ resources: ['resource-0'], hours: 0 }, 'hours must be'],
    [{ resources: ['resource-0'], minutes: 61 }, 'minutes must be a whole number from 1 to 60'],
    [{ resources: ['resource-0'], minutes: 5, hours: 1 }, 'minutes or hours, not both'],
    [{ resources: ['resource-0'], duration: 10 }, 'There is no argument \\"duration\\"'],
  ])('%j is refused', async (given, message) => {
    await expect(call('request_access', given)).rejects.toThrow(message);
    expect(await bench.live()).toEqual([]);
  });

  it('sessions that others have started are out of its reach', async () => {
    const { id } = await bench.org.started({ ipv4Address: '203.0.113.99' });
    await expect(call('release_access', { sessionId: id })).rejects.toThrow('sessionId must be');
    await expect(call('wait_for_access', { sessionId: id })).rejects.toThrow('sessionId must be');
    await bench.org.admin.expect(200, bench.org.admin.post(`/sessions/${id}/stop`));
  });

  it('--resource narrows what may be requested', async () => {
    await client.close();
    await open('--resource', 'not-mine');
    const { resources } = await call<{ resources: unknown[] }>('list_resources');
    expect(resources).toEqual([]);
    await expect(call('request_access', { resources: ['resource-0'] })).rejects.toThrow(
      'there are no resources',
    );
    const { resourceIds } = bench.org;
    await expect(call('request_access', { resources: resourceIds })).rejects.toThrow('may not be requested');
  });

  it('names what its user’s roles reach, and nothing else, where a name is unknown', async () => {
    const unknown: unknown = await call('request_access', { resources: ['unknown'] }).catch(String);
    expect(unknown).toContain('resource-0');
    expect(unknown).not.toContain('not-mine');
  });

  it('holds 20 sessions at most, also when more are requested at once', async () => {
    const requests = Array.from({ length: 24 }, () =>
      call<Access>('request_access', { resources: ['resource-0'] }),
    );
    const outcomes = await Promise.allSettled(requests);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  });
});
