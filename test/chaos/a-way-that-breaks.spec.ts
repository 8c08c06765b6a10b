import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { SeverableConnection } from '../harness/severable-connection';
import { until } from '../harness/until';

describe('A way to a server', () => {
  let server: Server;
  let way: SeverableConnection;
  let client: Socket;
  let heard = '';
  let answered = '';

  beforeEach(async () => {
    [heard, answered] = ['', ''];
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece: Buffer) => {
        heard += piece.toString();
        socket.write(piece);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    way = await SeverableConnection.to(`tcp://127.0.0.1:${port}`);
    client = connect(Number(new URL(way.url).port), '127.0.0.1');
    client.on('error', () => undefined);
    client.on('data', (piece: Buffer) => (answered += piece.toString()));
    await says('hello ');
  });
  afterEach(async () => {
    client.destroy();
    way.thaw();
    await way.cut();
    server.close();
  });

  const arrives = (what: () => string, text: string): Promise<boolean> =>
    until(`"${text}" arrives`, () => Promise.resolve(what() === text));
  const says = async (words: string): Promise<void> => {
    const expected = answered + words;
    client.write(words);
    await arrives(() => answered, expected);
  };

  it('frozen, keeps everything back, and delivers it in order when it thaws', async () => {
    way.freeze();
    client.write('one ');
    // a second connection is accepted, and as silent
    const other = connect(Number(new URL(way.url).port), '127.0.0.1');
    await once(other, 'connect');
    client.write('two ');
    expect([heard, client.destroyed]).toEqual(['hello ', false]);
    way.thaw();
    await arrives(() => answered, 'hello one two ');
    other.destroy();
  });

  it('keeps back answers alone: the server has heard it', async () => {
    way.holdAnswers();
    client.write('do it ');
    await arrives(() => heard, 'hello do it ');
    expect(answered).toBe('hello ');
    way.thaw();
    await arrives(() => answered, 'hello do it ');
  });

  it('slow, takes its time both ways', async () => {
    way.slow(60);
    const began = performance.now();
    await says('slowly ');
    expect(performance.now() - began).toBeGreaterThan(118);
  });

  it('cut, ends connections and lets none come about until it is restored', async () => {
    const ended = once(client, 'close');
    await way.cut();
    await ended;
    const refused = connect(Number(new URL(way.url).port), '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await way.restore();
    const again = connect(Number(new URL(way.url).port), '127.0.0.1');
    await once(again, 'connect');
    again.destroy();
  });
});
