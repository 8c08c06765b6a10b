import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import { CLI, type Run } from '../harness/product/command-line';
import { until } from '../harness/until';

/** Answers each line in capitals, and says goodbye when the other side has finished. */
const answer = (socket: Socket): void => {
  socket.on('data', (chunk: Buffer) => void socket.write(chunk.toString().toUpperCase()));
  socket.on('end', () => socket.end('BYE\n'));
  socket.on('error', () => undefined);
};

describe('connect gives access while a connection is open', () => {
  const bench = CliBench.own();
  let server: Server;
  let port: string;
  let sockets: Socket[];

  beforeAll(async () => {
    sockets = [];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      answer(socket);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    port = String((server.address() as AddressInfo).port);
  });
  afterAll(() => server.close());

  const command = (): string => `connect -r resource-0 127.0.0.1 ${port}`;
  /** @returns once it is joined */
  const connected = async (): Promise<Run> => {
    const going = bench.cli.start(command());
    going.child.stdin!.write('hello\n');
    await going.prints('HELLO');
    return going;
  };

  it('a megabyte of standard input is joined to it, and standard output holds nothing else', async () => {
    const sent = `${'a'.repeat(1_000_000)}\n`;
    const { code, stdout, stderr } = await bench.cli.run(command(), sent);
    expect([code, stdout === `${sent.toUpperCase()}BYE\n`]).toEqual([0, true]);
    // on a busy machine
    expect(stderr.replaceAll(/^drawbridge: waiting .*\n/gm, '')).toBe('');
    expect(await bench.live()).toEqual([]);
  });

  it('the access lasts as long as the connection, and ends when the other side closes it', async () => {
    const going = await connected();
    await bench.allows(CLI_ADDRESS);
    sockets.at(-1)!.destroy();
    expect((await going.ended).code).toBe(0);
    expect(await bench.live()).toEqual([]);
  });

  it('and when ssh ends its ProxyCommand with SIGHUP', async () => {
    const going = await connected();
    process.kill(going.pid, 'SIGHUP');
    expect((await going.ended).code).toBe(129);
    expect(await bench.live()).toEqual([]);
  });

  it('lasts while its standard input is open, also when what started it has gone, and no longer', async () => {
    const input = join(bench.cli.home, 'input');
    const output = join(bench.cli.home, 'output');
    execFileSync('mkfifo', [input]);
    // as ssh does for a connection that stays in the background: it forks, and its first process ends
    const forking = `"${process.execPath}" "${CLI}" connect 127.0.0.1 ${port} <"${input}" >"${output}" 2>&1 & read line`;
    const parent = spawn('sh', ['-c', forking], { env: bench.cli.environment });
    const hasEnded = new Promise((done) => parent.once('exit', done));
    const master = createWriteStream(input);
    master.write('hello\n');
    await bench.allows(CLI_ADDRESS);
    const has = (text: string): Promise<boolean> =>
      until(`it prints ${text}`, () => Promise.resolve(readFileSync(output, 'utf8').includes(text)));
    await has('HELLO');
    parent.stdin.end('\n');
    await hasEnded;
    // longer than a parent that has gone stays unnoticed
    await delay(2_000);
    master.write('still there\n');
    await has('STILL THERE');
    expect(await bench.live()).toHaveLength(1);
    master.destroy();
    await bench.allows();
  });
});
