import { join } from 'node:path';
import { childEnvironment, databaseUrls, type Addresses } from './child-environment';
import { EmbeddedDatabase, givenDatabase, type RunDatabase } from './database';
import { DemoApi } from './demo-api';
import { DemoOrganization, type DemoAccess } from './demo-organization';
import { LogFile } from './log-file';
import type { LauncherSettings } from './launcher.settings';
import { ManagedProcess } from './managed-process';
import { migrate } from './migrations';
import type { ProcessName } from './process-variables';
import type { Progress } from './progress';
import { ensureSigningKey, type Secrets } from './secrets-file';

export interface LauncherOptions {
  readonly repository: string;
  readonly settings: LauncherSettings;
  readonly addresses: Addresses;
  readonly secrets: Secrets;
  readonly environment: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
  /** its processes start again when their compiled files change */
  readonly isReloaded: boolean;
  /** called when the run cannot continue */
  readonly onLost: (reason: string) => void;
}

const DRAIN_TIMEOUT_MS = 10_000;
const SIMULATOR_TIMEOUT_MS = 3000;

/** The host under which this machine reaches a listen address. */
function reachableHost(host = '127.0.0.1'): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Everything one machine needs to run the service, started and stopped in order. */
export class Launcher {
  private readonly stopping = new AbortController();
  private readonly logs: LogFile[] = [];
  private readonly database: RunDatabase;
  private services: ManagedProcess[] = [];
  private simulator: ManagedProcess | null = null;
  private databaseUrl = '';

  constructor(private readonly options: LauncherOptions) {
    const { settings, print, onLost } = options;
    this.database = settings.DATABASE_URL
      ? givenDatabase(settings.DATABASE_URL)
      : new EmbeddedDatabase(settings.DATA_DIR, this.log('postgres'), print, onLost);
  }

  /** @throws Error naming what did not start, or that the start was interrupted */
  async start(progress: Progress): Promise<void> {
    const { repository, addresses, environment, secrets, settings } = this.options;
    const done = settings.DATABASE_URL ? 'DATABASE_URL is used' : 'PostgreSQL is up';
    this.databaseUrl = await progress.step('starting PostgreSQL', done, () => this.database.start());
    const variables = {
      SIMULATOR_STATE_FILE: join(settings.DATA_DIR, 'simulated-clouds.json'),
      AUDIT_SIGNING_KEY_FILE: ensureSigningKey(settings.DATA_DIR),
      // Node.js 22 and newer: loading takes a fifth less
      NODE_COMPILE_CACHE: join(settings.DATA_DIR, 'compile-cache'),
      ...environment,
    };
    const urls = databaseUrls(this.databaseUrl, settings);
    const environmentFor = (name: ProcessName): NodeJS.ProcessEnv =>
      childEnvironment(name, variables, addresses, secrets, urls);
    this.stopping.signal.throwIfAborted();
    const script = join(repository, 'dist/apps/worker/src/admin/main.js');
    const migration = {
      script,
      cwd: repository,
      environment: environmentFor('migrate'),
      log: this.log('migrate'),
    };
    const migrated = progress.step('updating the tables', 'Tables are up to date', () =>
      migrate({ ...migration, signal: this.stopping.signal }),
    );
    this.services = [
      this.process('API', 'api', environmentFor('api'), 'app.module.js'),
      this.process('worker', 'worker', environmentFor('worker'), 'worker.module.js'),
    ];
    const simulated = addresses.simulatorPort !== null;
    if (simulated) this.simulator = this.process('simulator', 'simulator', environmentFor('simulator'));
    // loading modules is most of a start: it goes on while the migration runs, but for programs that load them anew
    if (this.options.isReloaded) await migrated;
    const names = simulated ? 'API, worker and clouds' : 'API and worker';
    await progress.step(`starting ${names}`, `${names} are up`, () =>
      Promise.all([migrated, ...this.processes.map((process) => process.start(migrated))]),
    );
  }

  /** Path of the API's log, which mail is written to without SMTP_URL. */
  get apiLog(): string {
    return this.logPath('api');
  }

  /** Creates the demo organization if it is missing. @throws Error naming the step that failed */
  ensureDemo(): Promise<DemoAccess> {
    const { addresses, settings } = this.options;
    const api = new DemoApi(`${this.apiUrl}/api/v1`);
    const simulator = `http://127.0.0.1:${addresses.simulatorPort}`;
    return new DemoOrganization(api, this.databaseUrl, settings.DATA_DIR, simulator).ensure();
  }

  /** Whether the API serves the console: it may be off, or not built. */
  async hasConsole(): Promise<boolean> {
    return (await fetch(this.apiUrl, { method: 'HEAD', headers: { accept: 'text/html' } })).ok;
  }

  /** Stops API and worker first, so that they finish running work while clouds and database are available. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('The start was interrupted'));
    await Promise.all(this.services.map((process) => process.stop(DRAIN_TIMEOUT_MS)));
    await this.simulator?.stop(SIMULATOR_TIMEOUT_MS);
    await this.database.stop();
    await Promise.all(this.logs.map((log) => log.close()));
  }

  /** Kills everything at once, as in a crash: the next start recovers. */
  async kill(): Promise<void> {
    this.stopping.abort(new Error('The start was interrupted'));
    await Promise.all([...this.processes.map((process) => process.kill()), this.database.kill()]);
  }

  private get apiUrl(): string {
    const { addresses, settings } = this.options;
    return `http://${reachableHost(settings.HOST)}:${addresses.port}`;
  }

  private get processes(): ManagedProcess[] {
    return this.simulator ? [...this.services, this.simulator] : this.services;
  }

  /** @param modules the file of the app that loads all others; undefined: it loads with the app */
  private process(
    name: string,
    app: string,
    environment: NodeJS.ProcessEnv,
    modules?: string,
  ): ManagedProcess {
    const { repository, print, isReloaded } = this.options;
    const folder = join(repository, 'dist/apps', app, 'src');
    return new ManagedProcess({
      name,
      script: join(folder, 'main.js'),
      ...(modules !== undefined && !isReloaded && { modules: join(folder, modules) }),
      isReloaded,
      cwd: repository,
      environment,
      log: this.log(app),
      print,
    });
  }

  private log(name: string): LogFile {
    const log = new LogFile(this.logPath(name), this.options.print);
    this.logs.push(log);
    return log;
  }

  private logPath(name: string): string {
    return join(this.options.settings.DATA_DIR, 'logs', `${name}.log`);
  }
}
