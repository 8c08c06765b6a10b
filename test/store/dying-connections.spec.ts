import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Database } from '#entities';
import { cloneDatabase } from '../harness/database';

/** What a server process says that finds its postmaster dead. */
function lastWords(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

const READY_FOR_QUERY = Buffer.from('Z\0\0\0\u0005I');

/** A way to PostgreSQL on which, once asked, a connection dies in the moment in which it stands. */
class DeadlyWay {
  isDeadly = false;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(private readonly target: URL) {
    this.server = createServer((client) => this.carry(client));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private carry(client: Socket): void {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.pipe(upstream);
    const { isDeadly } = this;
    upstream.on('data', (chunk) => {
      const dies = isDeadly && chunk.includes(READY_FOR_QUERY);
      client.write(dies ? Buffer.concat([chunk, lastWords()]) : chunk);
      if (dies) client.end();
    });
    upstream.on('close', () => client.destroy());
  }
}

it('a connection that dies before anybody holds it fails a statement, not the process', async () => {
  const { url, drop } = await cloneDatabase();
  const way = new DeadlyWay(new URL(url));
  const settings = { url: await way.listen(), applicationName: 'dying-connections', poolSize: 2 };
  const database = await new Database(settings).connect();
  await database.transaction(async (tx) => {
    await tx.query('SELECT 1');
    way.isDeadly = true;
    await expect(database.autocommit.query('SELECT 1')).rejects.toThrow('Client');
    way.isDeadly = false;
    expect(await database.autocommit.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
  await database.close();
  await way.close();
  await drop();
});
