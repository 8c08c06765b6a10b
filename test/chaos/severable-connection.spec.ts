import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SeverableConnection } from '../harness/database/severable-connection';
import { until } from '../harness/until';

describe('SeverableConnection', () => {
  let server: Server;
  let connection: SeverableConnection;
  let client: Socket;
  let received = '';
  let answered = '';

  beforeEach(async () => {
    [received, answered] = ['', ''];
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece: Buffer) => {
        received += piece.toString();
        socket.write(piece);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    connection = await SeverableConnection.to(`tcp://127.0.0.1:${port}`);
    client = connect(Number(new URL(connection.url).port), '127.0.0.1');
    client.on('error', () => undefined);
    client.on('data', (piece: Buffer) => (answered += piece.toString()));
    await send('hello ');
  });
  afterEach(async () => {
    client.destroy();
    connection.thaw();
    await connection.cut();
    server.close();
  });

  const arrives = (what: () => string, text: string): Promise<boolean> =>
    until(`"${text}" arrives`, () => Promise.resolve(what() === text));
  const send = async (text: string): Promise<void> => {
    const expected = answered + text;
    client.write(text);
    await arrives(() => answered, expected);
  };

  it('frozen, holds all data, and delivers it in order after thaw', async () => {
    connection.freeze();
    client.write('one ');
    // a second connection is accepted, and held too
    const other = connect(Number(new URL(connection.url).port), '127.0.0.1');
    await once(other, 'connect');
    client.write('two ');
    expect([received, client.destroyed]).toEqual(['hello ', false]);
    connection.thaw();
    await arrives(() => answered, 'hello one two ');
    other.destroy();
  });

  it('holds answers only: the server receives requests', async () => {
    connection.holdAnswers();
    client.write('do it ');
    await arrives(() => received, 'hello do it ');
    expect(answered).toBe('hello ');
    connection.thaw();
    await arrives(() => answered, 'hello do it ');
  });

  it('slow, delays both directions', async () => {
    connection.slow(60);
    const there = pause(59).then(() => received);
    const back = pause(118).then(() => answered);
    await send('slowly ');
    expect(await Promise.all([there, back])).toEqual(['hello ', 'hello ']);
  });

  it('cut, closes connections and refuses new ones until restored', async () => {
    const ended = once(client, 'close');
    await connection.cut();
    await ended;
    const refused = connect(Number(new URL(connection.url).port), '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await connection.restore();
    const again = connect(Number(new URL(connection.url).port), '127.0.0.1');
    await once(again, 'connect');
    again.destroy();
  });
});
