import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client, Pool } from 'pg';
import { Database, execute, WriteProbe, type Transactions } from '#entities';
import type { QueueConnection } from '#jobs';
import { cloneDatabase, type ClonedDatabase } from '../harness/database/database';
import { postgresQueue } from '../harness/database/postgres-queue';
import { SeverableConnection } from '../harness/database/severable-connection';
import { until } from '../harness/until';
import { failureOf } from '../../apps/api/src/errors/failure';

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

const POOL_SIZE = 4;
const answers = (queue: QueueConnection): Promise<boolean> =>
  queue.ping().then(
    () => true,
    () => false,
  );
const ONE = { name: 'dying-connections-one', text: 'SELECT 1 AS one' };

/** Every way in which the product's code uses a connection. */
const USES: readonly (readonly [string, (database: Transactions) => Promise<unknown>])[] = [
  ['a statement', (database) => database.autocommit.query('SELECT 1')],
  ['a prepared statement', (database) => execute(database.autocommit, ONE, [])],
  ['a transaction', (database) => database.transaction((tx) => tx.query('SELECT 1'))],
  ['a prepared statement in a transaction', (database) => database.transaction((tx) => execute(tx, ONE, []))],
];

describe('Connections that no longer lead to a writable server', () => {
  let clone: ClonedDatabase;
  let way: SeverableConnection;
  let database: Database;

  /** @param parameters of the URL; the time-out of the product is 20 s */
  const urlWith = (parameters = 'query_timeout=1500'): string => `${way.url}?${parameters}`;
  const opened = (): Database =>
    new Database({ url: urlWith(), applicationName: 'dying-connections', poolSize: POOL_SIZE });
  const filled = (use: () => Promise<unknown>): Promise<unknown> =>
    Promise.all(Array.from({ length: POOL_SIZE }, use));
  const readOnly = (is: boolean): Promise<unknown> =>
    database.autocommit.query(
      `DO $$ BEGIN EXECUTE format(
         'ALTER DATABASE %I SET default_transaction_read_only = ${is}', current_database()); END $$`,
    );

  beforeEach(async () => {
    clone = await cloneDatabase();
    way = await SeverableConnection.to(clone.url);
    database = await opened().connect();
    await filled(() => database.autocommit.query('SELECT pg_sleep(0.05)'));
  });
  afterEach(async () => {
    await database.close();
    await way.cut();
    await clone.drop();
  });

  it.each(USES)('are given out no more after %s was not answered', async (_, use) => {
    way.forget();
    await expect(use(database)).rejects.toThrow('Query read timeout');
    // those that nothing was sent on are as dead
    await filled(() => use(database));
  });

  it('are given out by no pool to the same server after one of them was not answered', async () => {
    const [other, queue] = [await opened().connect(), postgresQueue(urlWith())];
    await filled(() => other.autocommit.query('SELECT pg_sleep(0.05)'));
    await queue.ping();
    way.forget();
    await expect(database.autocommit.query('SELECT 1')).rejects.toThrow('Query read timeout');
    await filled(() => other.autocommit.query('SELECT 1'));
    // its pool may pause after an attempt that failed, and gives out no connection that does not answer
    await until('the queue answers', () =>
      queue.ping().then(
        () => true,
        (error: Error) => !error.message.includes('the next one is not due') && Promise.reject(error),
      ),
    );
    await Promise.all([other.close(), queue.close()]);
  });

  it('are tried when no new one can be opened, and dropped when they are dead, too', async () => {
    const pool = database.openPool({ max: POOL_SIZE });
    pool.on('error', () => undefined);
    await filled(() => pool.query('SELECT pg_sleep(0.05)'));
    const queue = postgresQueue(urlWith());
    way.freeze();
    await expect(queue.ping()).rejects.toThrow('Connection terminated due to connection timeout');
    // its pool leaves the server alone for a while
    await expect(queue.ping()).rejects.toThrow('the next one is not due');
    await until('they are dropped', () => Promise.resolve(pool.totalCount === 0));
    way.thaw();
    await until('the queue tries again', () => answers(queue));
    await Promise.all([pool.end(), queue.close()]);
  });

  it('are not what a repeatable transaction is repeated on', async () => {
    way.forget();
    const one = database.revocation((tx) => tx.query('SELECT 1 AS one'), 'repeatable');
    await expect(one).resolves.toEqual([{ one: 1 }]);
  });

  it('are given out no more after one refused a write', async () => {
    await filled(() =>
      database.autocommit.query(
        "SELECT pg_sleep(0.05), set_config('default_transaction_read_only', 'on', false)",
      ),
    );
    const probe = new WriteProbe(database);
    await expect(probe.check()).rejects.toThrow('read-only');
    await filled(() => new WriteProbe(database).check());
  });

  it('are kept after the answers of a healthy server', async () => {
    const backend = async (): Promise<unknown> => await database.autocommit.query('SELECT pg_backend_pid()');
    const before = await backend();
    for (const [wrong, message] of [
      ['SELECT 1/0', 'division by zero'],
      ['SELECT nothing', 'does not exist'],
      ['SET statement_timeout = 1; SELECT pg_sleep(1)', 'statement timeout'],
    ] as const)
      await expect(database.autocommit.query(wrong)).rejects.toThrow(message);
    expect(await backend()).toEqual(before);
  });

  describe('of the queue', () => {
    let queue: QueueConnection;
    const open = (parameters?: string): QueueConnection => postgresQueue(urlWith(parameters));

    beforeEach(async () => {
      queue = open();
      await filled(() => queue.ping());
    });
    afterEach(() => queue.close());

    it('are given out no more after a statement was not answered', async () => {
      way.forget();
      await expect(queue.ping()).rejects.toThrow('Query read timeout');
      await filled(() => queue.ping());
    });

    it('are not taken up', async () => {
      await readOnly(true);
      const other = open();
      await expect(other.ping()).rejects.toMatchObject({ code: '25006' });
      await readOnly(false);
      await until('it tries again', () => answers(other));
      await other.close();
    });

    it('have the schema of the queue, whatever options the URL has', async () => {
      const other = open('options=-c%20work_mem%3D8MB');
      const { rows } = await (other.options as Pool).query('SHOW search_path');
      expect(rows).toEqual([{ search_path: 'bullmq' }]);
      await other.close();
    });
  });
});

describe('What pg reports when it gets no connection', () => {
  let server: Server;
  let target: { host: string; port: number };
  let greet: (socket: Socket) => void;
  const connected: Socket[] = [];

  beforeAll(async () => {
    server = createServer((socket) => {
      connected.push(socket);
      greet(socket.on('error', () => undefined));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  });
  afterAll(() => {
    for (const socket of connected) socket.destroy();
    server.close();
  });

  const closed = (): Pool => {
    const pool = new Pool(target);
    void pool.end();
    return pool;
  };
  const ended = async (): Promise<unknown> => {
    const client = new Client(target);
    client.on('error', () => undefined);
    await client.connect().catch(() => undefined);
    await client.end();
    return client.query('SELECT 1');
  };

  it.each<[string, () => Promise<unknown>, 'silent' | 'hangs up']>([
    ['timeout expired', () => new Client({ ...target, connectionTimeoutMillis: 50 }).connect(), 'silent'],
    [
      'Connection terminated due to connection timeout',
      () => new Pool({ ...target, connectionTimeoutMillis: 50 }).connect(),
      'silent',
    ],
    ['Connection terminated unexpectedly', () => new Client(target).connect(), 'hangs up'],
    ['not queryable', ended, 'hangs up'],
    ['Cannot use a pool after calling end on the pool', () => closed().connect(), 'silent'],
  ])('is temporary: %s', async (message, attempt, manner) => {
    const sockets: Socket[] = [];
    greet = (socket) => (manner === 'silent' ? void sockets.push(socket) : void socket.end());
    const error = await attempt().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining(message) as string });
    expect(failureOf(error)).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    for (const socket of sockets) socket.destroy();
  });

  it('is temporary: a pool whose connections are all taken for too long', async () => {
    const { url, drop } = await cloneDatabase();
    const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 500 });
    const taken = await pool.connect();
    const error = await pool.connect().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'timeout exceeded when trying to connect' });
    expect(failureOf(error)).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    taken.release();
    await pool.end();
    await drop();
  });
});
