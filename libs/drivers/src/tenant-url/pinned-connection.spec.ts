import { createSocket, type Socket as DnsSocket } from 'node:dgram';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoTenantResponse, PinnedConnection, type TenantResponse } from './pinned-connection';
import { ForbiddenHost, TenantHosts } from './tenant-hosts';
import { readTenantUrl } from './tenant-url';

type Records = Readonly<Record<string, readonly string[]>>;

/** A DNS server with configurable records. Records its queries. */
class NameServer {
  queries: string[] = [];
  /** records by name; a list: one element for each query, in order */
  zone: Record<string, Records | readonly Records[]> = {};

  private constructor(private readonly socket: DnsSocket) {
    socket.on('message', (query, peer) => socket.send(this.answer(query), peer.port, peer.address));
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => {
      socket.bind(0, '127.0.0.1', resolve);
    });
    return new NameServer(socket);
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.close(() => resolve());
    });
  }

  private answer(query: Buffer): Buffer {
    const { name, type, end } = readQuestion(query);
    const turn = this.queries.filter((one) => one === `${name} ${type}`).length;
    this.queries.push(`${name} ${type}`);
    const known = this.zone[name];
    const records = Array.isArray(known) ? (known as Records[])[Math.min(turn, known.length - 1)] : known;
    const addresses = (records as Records | undefined)?.[type] ?? [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, query.subarray(12, end), ...addresses.map((one) => record(type, one))]);
  }
}

function readQuestion(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = query.readUInt16BE(at + 1) === 28 ? 'AAAA' : 'A';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

function record(type: string, address: string): Buffer {
  const data =
    type === 'A'
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(address.replaceAll(':', ''), 'hex');
  const head = Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

const LOOPBACK = { A: ['127.0.0.1'] };
const METADATA = { A: ['169.254.169.254'] };
const MAPPED_METADATA = { AAAA: ['0000:0000:0000:0000:0000:ffff:a9fe:a9fe'] };

describe('PinnedConnection', () => {
  let names: NameServer;
  let server: Server;
  let port: number;
  let closedPort: number;
  let requests: IncomingMessage[];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    names = await NameServer.start();
    server = createServer((request, response) => {
      requests.push(request);
      respond(request, response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    ({ port } = server.address() as AddressInfo);
    const closed = createServer();
    await new Promise<void>((resolve) => {
      closed.listen(0, '127.0.0.1', resolve);
    });
    closedPort = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => {
      closed.close(resolve);
    });
  });
  beforeEach(() => {
    names.queries = [];
    requests = [];
    respond = (_, response) => response.end('fine');
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    await names.close();
  });

  const open = (host: string, networks = ['127.0.0.0/8'], milliseconds = 5000): Promise<PinnedConnection> =>
    PinnedConnection.open(
      readTenantUrl(`http://${host}:${port}/base/`)!,
      new TenantHosts(
        networks.map((cidr) => ({ cidr, port: null })),
        [names.address],
      ),
      AbortSignal.timeout(milliseconds),
    );
  const send = async (connection: PinnedConnection, body?: string): Promise<TenantResponse> => {
    const headers = { 'x-test': 'yes' };
    const method = body === undefined ? 'GET' : 'PATCH';
    return connection.request({ method, path: '/path', headers, ...(body !== undefined && { body }) });
  };
  const failure = async (call: Promise<unknown>): Promise<NoTenantResponse> => {
    const error: unknown = await call.catch((reason: unknown) => reason);
    if (error instanceof NoTenantResponse) return error;
    throw new Error(`Expected NoTenantResponse, got ${String(error)}`);
  };

  it('appends the path to the URL and sends the original host name', async () => {
    names.zone = { 'gateway.test': LOOPBACK };
    const connection = await open('gateway.test');
    expect(await send(connection, 'a body')).toMatchObject({ status: 200, text: 'fine' });
    expect(requests[0]).toMatchObject({ method: 'PATCH', url: '/base/path' });
    expect(requests[0]!.headers).toMatchObject({ host: `gateway.test:${port}`, 'x-test': 'yes' });
    connection.close();
  });

  it('keeps the first resolved address when the DNS answer changes (DNS rebinding)', async () => {
    names.zone = { 'rebind.test': [LOOPBACK, METADATA] };
    const connection = await open('rebind.test');
    respond = (_, response) => response.setHeader('connection', 'close').end('fine');
    for (let times = 0; times < 3; times += 1) expect((await send(connection)).text).toBe('fine');
    expect(requests).toHaveLength(3);
    expect(names.queries.toSorted()).toEqual(['rebind.test A', 'rebind.test AAAA']);
    connection.close();
    await expect(open('rebind.test')).rejects.toThrow(ForbiddenHost);
  });

  it.each([
    ['to a metadata address', METADATA],
    ['to an IPv4-mapped metadata address', MAPPED_METADATA],
    ['to an allowed and a forbidden address', { A: ['127.0.0.1', '169.254.169.254'] }],
    ['to an allowed IPv4 and a forbidden IPv6 address', { ...LOOPBACK, ...MAPPED_METADATA }],
    ['to a network that is not configured', { A: ['10.0.0.1'] }],
    ['to this host', { A: ['0.0.0.0'] }],
  ])('refuses a name that resolves %s', async (_, records) => {
    names.zone = { 'bad.test': records };
    await expect(open('bad.test')).rejects.toThrow(ForbiddenHost);
    expect(requests).toEqual([]);
  });

  it.each([
    'localhost',
    'a.localhost',
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f000001',
  ])('refuses %s when no private network is configured', async (host) => {
    await expect(open(host, [])).rejects.toThrow(ForbiddenHost);
    expect(requests).toEqual([]);
    expect(names.queries).toEqual([]);
  });

  it('fails for a name without addresses', async () => {
    names.zone = { 'empty.test': {} };
    await expect(open('unknown.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(open('empty.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('stops waiting for an unresponsive DNS server at the deadline', async () => {
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => {
      silent.bind(0, '127.0.0.1', resolve);
    });
    const hosts = new TenantHosts([], [`127.0.0.1:${silent.address().port}`]);
    const url = readTenantUrl('http://silent.test')!;
    await expect(PinnedConnection.open(url, hosts, AbortSignal.timeout(100))).rejects.toMatchObject({
      code: 'ECANCELLED',
    });
    silent.close();
  });

  it('does not follow redirects', async () => {
    respond = (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/else` }).end();
    const connection = await open('127.0.0.1');
    expect(await send(connection)).toMatchObject({ status: 302 });
    expect(requests.map(({ url }) => url)).toEqual(['/base/path']);
    connection.close();
  });

  it('fails on a response that is too long or ends early', async () => {
    const connection = await open('127.0.0.1');
    respond = (_, response) => response.end('x'.repeat(10_000_000));
    expect(await failure(send(connection))).toMatchObject({ sent: true });
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    };
    expect(await failure(send(connection))).toMatchObject({ sent: true });
    connection.close();
  });

  it('enforces the deadline for a response that trickles in', async () => {
    const drips: NodeJS.Timeout[] = [];
    respond = (_, response) => {
      response.writeHead(200);
      drips.push(setInterval(() => response.write('.'), 20));
    };
    const connection = await open('127.0.0.1', ['127.0.0.0/8'], 300);
    expect(await failure(send(connection))).toMatchObject({ sent: true });
    drips.forEach((drip) => clearInterval(drip));
    connection.close();
  });

  it.each([
    ['the connection is refused', () => `http://127.0.0.1:${closedPort}`],
    ['an https server has no certificate', () => `https://127.0.0.1:${port}`],
  ])('reports that nothing was sent when %s', async (_, url) => {
    const hosts = new TenantHosts([{ cidr: '127.0.0.0/8', port: null }]);
    const signal = AbortSignal.timeout(5000);
    const connection = await PinnedConnection.open(readTenantUrl(url())!, hosts, signal);
    expect(await failure(send(connection))).toMatchObject({ sent: false });
    expect(requests).toEqual([]);
    connection.close();
  });
});
