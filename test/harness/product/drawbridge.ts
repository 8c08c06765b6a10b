import { Pool } from 'pg';
import { ApiClient, asOfManyPeople } from './api-client';
import { apiEnvironment, startProcesses, type ProcessOptions, type Processes } from './product-processes';
import { AppProcess, type Reader, type Release } from './processes';
import { sharedProcesses, type SharedOptions } from './shared-products';
import { SimulatorClient } from './simulator-client';

export { simulatedClouds, TESTERS_LIMIT } from './product-processes';

export type DrawbridgeOptions = ProcessOptions;

/** What a test needs of a running product, wherever it runs. */
export type Product = Pick<Drawbridge, 'api' | 'cloud' | 'query'> & {
  readonly apiServer: Pick<AppProcess, 'port'>;
};

/** The shipped product: API, worker and simulated clouds, each a process, on a database of its own. */
export class Drawbridge {
  api!: ApiClient;
  cloud!: SimulatorClient;
  workers: AppProcess[] = [];
  private otherApis: AppProcess[] = [];
  private processes!: Processes;
  private sql!: Pool;

  private constructor(private readonly isShared: boolean) {}

  static async start(options: DrawbridgeOptions = {}): Promise<Drawbridge> {
    return new Drawbridge(false).connected(await startProcesses(options));
  }

  /** For the tests of a file or of a `describe`: it starts before them, and ends after them. */
  static own(options: DrawbridgeOptions = {}): Drawbridge {
    const drawbridge = new Drawbridge(false);
    beforeAll(async () => {
      drawbridge.connected(await startProcesses(options));
    });
    afterAll(() => drawbridge.stop());
    return drawbridge;
  }

  /**
   * The same for tests that end none of its processes: the suites of one worker use it in turn, and each finds it without
   * an organization, a rule or a fault. What the deployment has as a whole stays: audit records, keys, and the log of before.
   */
  static shared(options: SharedOptions = {}): Drawbridge {
    const drawbridge = new Drawbridge(true);
    beforeAll(async () => {
      drawbridge.connected(await sharedProcesses(options));
    });
    afterAll(() => drawbridge.stop());
    return drawbridge;
  }

  /** A shared one for a builder, which stops it. */
  static async borrowed(options: SharedOptions = {}): Promise<Drawbridge> {
    return new Drawbridge(true).connected(await sharedProcesses(options));
  }

  private connected(processes: Processes): this {
    const base = `http://127.0.0.1:${processes.api.port}/api/v1`;
    this.processes = processes;
    const log = (): string => processes.api.output;
    this.api = new ApiClient(base, null, log, processes.limitedAsShipped ? asOfManyPeople : undefined);
    this.cloud = new SimulatorClient(`http://127.0.0.1:${processes.simulator.port}`);
    this.workers = processes.worker ? [processes.worker] : [];
    this.sql = new Pool({ connectionString: processes.ownerUrl, max: 4 });
    // dropping the database cuts connections that are still closing; an interrupted query rejects by itself
    this.sql.on('error', () => undefined);
    return this;
  }

  /** @param release this one when left out */
  async startWorker(
    env: Readonly<Record<string, string>> = {},
    reader?: Reader,
    release?: Release,
  ): Promise<AppProcess> {
    const worker = await AppProcess.start('worker', { ...this.processes.env, ...env }, reader, release);
    this.workers.push(worker);
    return worker;
  }

  /** Starts another API process on the same database. @param release as of `startWorker` */
  async startApi(
    env: Readonly<Record<string, string>> = {},
    reader?: Reader,
    release?: string,
  ): Promise<AppProcess> {
    const all = apiEnvironment({ ...this.processes.env, ...env });
    const api = await AppProcess.start('api', all, reader, release);
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
    const { api, simulator, worker, dropDatabase } = this.processes;
    const kept = this.isShared ? [api, simulator, worker] : [];
    const all = [api, simulator, ...this.workers, ...this.otherApis];
    await Promise.all(
      all.filter((process) => !kept.includes(process)).map((process) => process.stop('SIGKILL')),
    );
    await this.sql.end();
    if (!this.isShared) await dropDatabase();
  }
}
