import { Pool } from 'pg';
import { ApiClient } from './api-client';
import { apiEnvironment, startProcesses, type ProcessOptions, type Processes } from './product-processes';
import { AppProcess, type Reader } from './processes';
import { SimulatorClient } from './simulator-client';

export { simulatedClouds } from './product-processes';

export interface DrawbridgeOptions extends Omit<ProcessOptions, 'shared'> {
  /** false: the test starts workers itself */
  readonly worker?: boolean;
}

declare global {
  /** of `product-environment.cjs` */
  var startSharedProcesses: () => Promise<Processes>;
}

/** What a test needs of a running product, wherever it runs. */
export type Product = Pick<Drawbridge, 'api' | 'cloud' | 'query'> & {
  readonly apiServer: Pick<AppProcess, 'port'>;
};

/** The shipped product: API, worker and simulated clouds, each a process, on a database of its own. */
export class Drawbridge {
  readonly api: ApiClient;
  readonly cloud: SimulatorClient;
  readonly workers: AppProcess[] = [];
  private readonly otherApis: AppProcess[] = [];

  private readonly sql: Pool;

  private constructor(
    private readonly processes: Processes,
    private readonly isShared: boolean,
  ) {
    const base = `http://127.0.0.1:${processes.api.port}/api/v1`;
    this.api = new ApiClient(base, null, () => processes.api.output);
    this.cloud = new SimulatorClient(`http://127.0.0.1:${processes.simulator.port}`);
    this.sql = new Pool({ connectionString: processes.ownerUrl, max: 4 });
    // dropping the database cuts connections that are still closing; an interrupted query rejects by itself
    this.sql.on('error', () => undefined);
  }

  static async start({ worker = true, ...options }: DrawbridgeOptions = {}): Promise<Drawbridge> {
    const drawbridge = new Drawbridge(await startProcesses(options), false);
    if (worker) await drawbridge.startWorker();
    return drawbridge;
  }

  /**
   * An API without a worker that the test files of one jest worker use in turn, each with organizations of its own. For
   * tests that need no settings, start no worker, end no process and change no rows of other organizations: a worker would meet
   * the sessions that every file before has left behind.
   */
  static async shared(): Promise<Drawbridge> {
    return new Drawbridge(await globalThis.startSharedProcesses(), true);
  }

  /** @param release folder of its release; this release when left out */
  async startWorker(
    env: Readonly<Record<string, string>> = {},
    reader?: Reader,
    release?: string,
  ): Promise<AppProcess> {
    if (this.isShared) throw new Error('A worker needs a product of its own: Drawbridge.start');
    const worker = await AppProcess.start('worker', { ...this.processes.env, ...env }, reader, release);
    this.workers.push(worker);
    return worker;
  }

  /** Starts another API process on the same database. */
  async startApi(env: Readonly<Record<string, string>> = {}, reader?: Reader): Promise<AppProcess> {
    const api = await AppProcess.start('api', apiEnvironment({ ...this.processes.env, ...env }), reader);
    this.otherApis.push(api);
    return api;
  }

  /** The worker started last. */
  get worker(): AppProcess {
    return this.workers.at(-1)!;
  }

  get apiServer(): AppProcess {
    return this.processes.api;
  }

  /** as the processes connect */
  get databaseUrl(): string {
    return this.processes.databaseUrl;
  }

  /** signs access tokens */
  get jwtSecret(): string {
    return this.processes.env['JWT_SECRET']!;
  }

  /** of the tables' owner */
  get ownerUrl(): string {
    return this.processes.ownerUrl;
  }

  /** Queries the database directly: to move times, or to read what no endpoint returns. */
  async query<Row extends object>(statement: string, given: readonly unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(statement, [...given])).rows;
  }

  async stop(): Promise<void> {
    const { api, simulator, dropDatabase } = this.processes;
    const own = [...this.workers, ...this.otherApis, ...(this.isShared ? [] : [api])];
    await Promise.all(own.map((process) => process.stop('SIGKILL')));
    if (!this.isShared) await simulator.stop('SIGKILL');
    await this.sql.end();
    if (!this.isShared) await dropDatabase();
  }
}
