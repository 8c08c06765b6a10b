import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { CLI_ADDRESS, CliBench } from '../builders/cli-bench';

/** Answers each line in capitals, and says goodbye when the other side has finished. */
const answer = (socket: Socket): void => {
  socket.on('data', (chunk: Buffer) => void socket.write(chunk.toString().toUpperCase()));
  socket.on('end', () => socket.end('BYE\n'));
  socket.on('error', () => undefined);
};

describe('connect gives access while a connection is open', () => {
  let bench: CliBench;
  let server: Server;
  let port: string;
  let sockets: Socket[];

  beforeAll(async () => {
    bench = await CliBench.start();
    sockets = [];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      answer(socket);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    port = String((server.address() as AddressInfo).port);
  });
  afterAll(async () => {
    server.close();
    await bench.stop();
  });
  afterEach(async () => {
    await bench.cli.endRuns();
    await bench.allows();
  });

  const connect = (): ReturnType<CliBench['cli']['start']> =>
    bench.cli.start(['connect', '-r', 'resource-0', '127.0.0.1', port]);

  it('standard input and output are joined to it, and standard output holds nothing else', async () => {
    const { code, stdout, stderr } = await bench.cli.run(
      ['connect', '-r', 'resource-0', '127.0.0.1', port],
      'hello\n',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'HELLO\nBYE\n', stderr: '' });
    expect(await bench.live()).toEqual([]);
  });

  it('the access lasts as long as the connection, and ends when the other side closes it', async () => {
    const going = connect();
    going.child.stdin!.write('hello\n');
    await going.prints('HELLO');
    await bench.allows(CLI_ADDRESS);
    sockets.at(-1)!.destroy();
    expect((await going.ended).code).toBe(0);
    expect(await bench.live()).toEqual([]);
  });

  it('and when ssh ends its ProxyCommand with SIGHUP', async () => {
    const going = connect();
    going.child.stdin!.write('hello\n');
    await going.prints('HELLO');
    process.kill(going.pid, 'SIGHUP');
    expect((await going.ended).code).toBe(129);
    expect(await bench.live()).toEqual([]);
  });

  it('a megabyte passes unchanged', async () => {
    const sent = 'a'.repeat(1_000_000);
    const { code, stdout } = await bench.cli.run(['connect', '127.0.0.1', port], sent);
    expect(code).toBe(0);
    expect(stdout === `${sent.toUpperCase()}BYE\n`).toBe(true);
  });
});
