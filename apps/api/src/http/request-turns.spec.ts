import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { rememberCallerAddress } from './caller-address';
import { serveInTurn } from './fair-server';
import { RequestTurns, WAITS } from './request-turns';

class Response extends EventEmitter {
  destroyed = false;
}

const LIMITS = { atOnce: 2, waiting: 3, eachTurn: 3, turnMs: 1 };

/** After the timers and immediates that are set already. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => setTimeout(() => setImmediate(resolve), LIMITS.turnMs));

describe('RequestTurns', () => {
  const begun: string[] = [];
  let turns: RequestTurns;

  beforeEach(() => {
    begun.length = 0;
    turns = new RequestTurns(LIMITS);
  });

  const take = (address: string, response = new Response()): Response => {
    if (!turns.take(address, response, () => begun.push(address))) begun.push(`${address} refused`);
    return response;
  };

  it('begins one request of each address in a turn, and no more than fit into one', async () => {
    for (const address of ['a', 'a', 'b', 'c', 'd', 'b']) take(address);
    expect(begun.join('')).toBe('abc');
    await nextTurn();
    expect(begun.join('')).toBe('abcadb');
  });

  it('works on so many of an address at once, but for those that wait, and keeps so many waiting', async () => {
    const all = Array.from({ length: 6 }, () => take('a'));
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(begun).toEqual(['a', 'a refused', 'a refused', 'a']);
    all[0]!.emit(WAITS);
    await nextTurn();
    await nextTurn();
    expect(begun.slice(4)).toEqual(['a']);
    all[0]!.emit('close');
    take('b');
    await nextTurn();
    expect(begun.slice(5)).toEqual(['b']);
    all[1]!.emit('close');
    expect(begun.slice(6)).toEqual(['a']);
  });

  it('begins requests of an address one after the other while it is alone, and pauses between them beside others', async () => {
    turns = new RequestTurns({ ...LIMITS, atOnce: 9, turnMs: 60_000 });
    for (const address of ['a', 'a']) take(address);
    await nextTurn();
    expect(begun.join('')).toBe('aa');
    await nextTurn();
    for (const address of ['b', 'a', 'a', 'c']) take(address);
    await nextTurn();
    expect(begun.join('')).toBe('aabac');
  });

  it('begins none whose client is gone, and an address that is answered at once again only in the next turn', async () => {
    const first = take('a');
    const gone = take('a');
    take('a');
    gone.destroyed = true;
    first.emit('close');
    take('a');
    expect(begun).toEqual(['a']);
    // alone
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['a', 'a']);
  });
});

describe('serveInTurn', () => {
  const remember = rememberCallerAddress(
    { trustedProxies: ['127.0.0.0/8'], refuseLocal: false },
    () => undefined,
  );
  let server: Server;
  const started = async (trustedProxies = ['127.0.0.0/8']): Promise<AddressInfo> => {
    server = createServer((_, response) => response.end());
    const turns = new RequestTurns({ atOnce: 1, waiting: 1, eachTurn: 1, turnMs: 1 });
    serveInTurn(server, { remember, trustedProxies, turns, maxConnections: 1 });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server.address() as AddressInfo;
  };
  /** Asks on a connection that stays open. @returns false when it is closed instead */
  const isAnswered = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('data', () => resolve(true)).on('close', () => resolve(false));
      socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('refuses with 429 and closes the connection where too many requests of one address wait', async () => {
    const { port } = await started();
    const socket = connect(port, '127.0.0.1');
    let answers = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answers += text));
    socket.write('GET /api/v1/roles HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5));
    await once(socket, 'close');
    expect(answers).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 429 .*Retry-After: 2.*Connection: close/s);
  });

  it('counts the connections of a peer, and none of a trusted proxy', async () => {
    for (const [trusted, alive] of [
      [[], 1],
      [['127.0.0.0/8'], 3],
    ] as [string[], number][]) {
      const { port } = await started(trusted);
      const answered = await Promise.all([1, 2, 3].map(() => isAnswered(port)));
      const count = answered.filter(Boolean).length;
      expect(count).toBe(alive);
      server.closeAllConnections();
      server.close();
    }
  });
});
