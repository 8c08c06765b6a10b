import { createSocket, type Socket as DnsSocket } from 'node:dgram';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoTenantAnswer, PinnedConnection, type TenantAnswer } from './pinned-connection';
import { ForbiddenHost, TenantHosts } from './tenant-hosts';
import { readTenantUrl } from './tenant-url';

type Records = Readonly<Record<string, readonly string[]>>;

/** A name server that knows some names, and how often it was asked for them. */
class NameServer {
  asked: string[] = [];
  /** what is answered from now on; a list of answers is gone through, one for each question */
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
    const turn = this.asked.filter((one) => one === `${name} ${type}`).length;
    this.asked.push(`${name} ${type}`);
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

describe('a connection to a tenant', () => {
  let names: NameServer;
  let server: Server;
  let port: number;
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
  });
  beforeEach(() => {
    names.asked = [];
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
  const ask = async (connection: PinnedConnection, body?: string): Promise<TenantAnswer> => {
    const headers = { 'x-test': 'yes' };
    const method = body === undefined ? 'GET' : 'PATCH';
    return connection.ask({ method, path: '/path', headers, ...(body !== undefined && { body }) });
  };
  const failure = async (asked: Promise<unknown>): Promise<NoTenantAnswer> => {
    const error: unknown = await asked.catch((reason: unknown) => reason);
    if (error instanceof NoTenantAnswer) return error;
    throw new Error(`It gave ${String(error)}`);
  };

  it('asks below the address that was given, by its name', async () => {
    names.zone = { 'gateway.test': LOOPBACK };
    const connection = await open('gateway.test');
    expect(await ask(connection, 'a body')).toMatchObject({ status: 200, text: 'fine' });
    expect(requests[0]).toMatchObject({ method: 'PATCH', url: '/base/path' });
    expect(requests[0]!.headers).toMatchObject({ host: `gateway.test:${port}`, 'x-test': 'yes' });
    connection.close();
  });

  it('stays where the name led first, however it leads a moment later', async () => {
    names.zone = { 'rebind.test': [LOOPBACK, METADATA] };
    const connection = await open('rebind.test');
    respond = (_, response) => response.setHeader('connection', 'close').end('fine');
    for (let times = 0; times < 3; times += 1) expect((await ask(connection)).text).toBe('fine');
    expect(requests).toHaveLength(3);
    expect(names.asked.toSorted()).toEqual(['rebind.test A', 'rebind.test AAAA']);
    connection.close();
    await expect(open('rebind.test')).rejects.toThrow(ForbiddenHost);
  });

  it.each([
    ['to metadata', METADATA],
    ['to metadata in IPv6 clothes', MAPPED_METADATA],
    ['to one good and one bad address', { A: ['127.0.0.1', '169.254.169.254'] }],
    ['to a good IPv4 and a bad IPv6 address', { ...LOOPBACK, ...MAPPED_METADATA }],
    ['to a network nobody named', { A: ['10.0.0.1'] }],
    ['to this host', { A: ['0.0.0.0'] }],
  ])('is not made when a name leads %s', async (_, records) => {
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
  ])('is not made to %s where the deployment names no network', async (host) => {
    await expect(open(host, [])).rejects.toThrow(ForbiddenHost);
    expect(requests).toEqual([]);
    expect(names.asked).toEqual([]);
  });

  it('is made to this machine where the deployment names it', async () => {
    const connection = await open('localhost', ['127.0.0.0/8', '::1']);
    expect((await ask(connection)).text).toBe('fine');
    connection.close();
  });

  it('is not made to a name that leads nowhere', async () => {
    names.zone = { 'empty.test': {} };
    await expect(open('unknown.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(open('empty.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('gives up a name server that says nothing at the deadline', async () => {
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

  it('follows no redirect', async () => {
    respond = (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/else` }).end();
    const connection = await open('127.0.0.1');
    expect(await ask(connection)).toMatchObject({ status: 302 });
    expect(requests.map(({ url }) => url)).toEqual(['/base/path']);
    connection.close();
  });

  it('reads no answer that is too long, and none that ends early', async () => {
    const connection = await open('127.0.0.1');
    respond = (_, response) => response.end('x'.repeat(10_000_000));
    expect(await failure(ask(connection))).toMatchObject({ sent: true });
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    };
    expect(await failure(ask(connection))).toMatchObject({ sent: true });
    connection.close();
  });

  it('waits until the deadline, also for an answer that comes drop by drop', async () => {
    const drips: NodeJS.Timeout[] = [];
    respond = (_, response) => {
      response.writeHead(200);
      drips.push(setInterval(() => response.write('.'), 20));
    };
    const connection = await open('127.0.0.1', ['127.0.0.0/8'], 300);
    expect(await failure(ask(connection))).toMatchObject({ sent: true });
    drips.forEach((drip) => clearInterval(drip));
    connection.close();
  });

  it('knows when nothing was sent', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => {
      closed.listen(0, '127.0.0.1', resolve);
    });
    const url = readTenantUrl(`http://127.0.0.1:${(closed.address() as AddressInfo).port}`)!;
    await new Promise((resolve) => {
      closed.close(resolve);
    });
    const hosts = new TenantHosts([{ cidr: '127.0.0.0/8', port: null }]);
    const connection = await PinnedConnection.open(url, hosts, AbortSignal.timeout(5000));
    expect(await failure(ask(connection))).toMatchObject({ sent: false });
    connection.close();
  });

  it('takes no server without a certificate for one with', async () => {
    const url = readTenantUrl(`https://127.0.0.1:${port}`)!;
    const hosts = new TenantHosts([{ cidr: '127.0.0.0/8', port: null }]);
    const connection = await PinnedConnection.open(url, hosts, AbortSignal.timeout(5000));
    expect(await failure(ask(connection))).toMatchObject({ sent: false });
    expect(requests).toEqual([]);
    connection.close();
  });
});
