import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const ACTION = resolve(__dirname, '../../../apps/action');

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: {
    readonly using: string;
    readonly main: string;
    readonly post: string;
    readonly 'post-if': string;
  };
}

export const actionFile = (): ActionFile =>
  parse(readFileSync(join(ACTION, 'action.yml'), 'utf8')) as ActionFile;

/** How a step of the action has ended. */
export interface StepEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** The variables with which a job may request ID tokens. */
export type IdTokenVariables = Readonly<
  Record<'ACTIONS_ID_TOKEN_REQUEST_URL' | 'ACTIONS_ID_TOKEN_REQUEST_TOKEN', string>
>;

/** The programs of an action's steps, and the defaults of its inputs. */
interface ActionSteps {
  readonly main: string;
  readonly post: string;
  readonly defaults: Readonly<Record<string, string>>;
}

/** Drawbridge's own, as its `action.yml` says. */
function drawbridgeAction(): ActionSteps {
  const { inputs, runs } = actionFile();
  const defaults = Object.entries(inputs).map(([name, input]) => [name, input.default ?? '']);
  return {
    main: join(ACTION, runs.main),
    post: join(ACTION, runs.post),
    defaults: Object.fromEntries(defaults) as Record<string, string>,
  };
}

interface JobOptions {
  /** more variables of every step */
  readonly variables?: Readonly<Record<string, string>>;
  readonly action?: ActionSteps;
}

/** One job of a CI system that uses an action: the files, variables and processes of GitHub's runner. */
export class ActionJob {
  readonly folder = mkdtempSync(join(tmpdir(), 'drawbridge-job-'));
  readonly trackingId = `github_${randomUUID()}`;
  private readonly worker: ChildProcess;
  /** of the main step, for the post step alone */
  private state: Record<string, string> = {};
  /** of the main step */
  variables: Readonly<Record<string, string>> = {};

  /** @param node the program of Node.js 24 */
  constructor(
    private readonly node: string,
    private readonly inputs: Readonly<Record<string, string>>,
    private readonly options: JobOptions = {},
  ) {
    this.worker = fork(join(__dirname, 'runner-worker.cjs'), { env: {}, execArgv: [] });
  }

  async main(): Promise<StepEnd> {
    const end = await this.step('main');
    this.state = valuesIn(this.read('main-state'));
    return end;
  }

  post = (): Promise<StepEnd> => this.step('post');

  get outputs(): Record<string, string> {
    return valuesIn(this.read('main-output'));
  }

  get summary(): string {
    return this.read('post-summary');
  }

  /** What the main step has saved. */
  get saved(): Readonly<Record<string, string>> {
    return this.state;
  }

  /** Whether the main step has saved a value, also while it runs. */
  hasSaved = (name: string): boolean => name in valuesIn(this.read('main-state'));

  /** Every file of the job, without the state that the post step alone gets. */
  get publicFiles(): string {
    const files = readdirSync(this.folder).filter((file) => file !== 'main-state');
    return files.map((file) => this.read(file)).join('\n');
  }

  /** Signals the step, as the runner does when a job is cancelled. */
  signal(signal: NodeJS.Signals): void {
    this.worker.send({ signal });
  }

  /** Every process that this job has started and that runs, the runner's own left out. */
  processes = (): number[] => processesOf(this.trackingId);

  /** Ends the runner's process only. */
  killRunner(): void {
    this.worker.kill('SIGKILL');
  }

  /** A machine that is gone: nothing of the job runs any more. */
  killAll(): void {
    this.killRunner();
    for (const pid of this.processes()) process.kill(pid, 'SIGKILL');
  }

  remove(): void {
    this.killAll();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private step(name: 'main' | 'post'): Promise<StepEnd> {
    const files = ['output', 'state', 'summary'].map((file) => join(this.folder, `${name}-${file}`));
    for (const file of files) writeFileSync(file, '');
    const [GITHUB_OUTPUT = '', GITHUB_STATE = '', GITHUB_STEP_SUMMARY = ''] = files;
    const { variables = {}, action = drawbridgeAction() } = this.options;
    const given = { ...action.defaults, ...this.inputs };
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      RUNNER_TEMP: this.folder,
      RUNNER_TRACKING_ID: this.trackingId,
      GITHUB_ACTIONS: 'true',
      GITHUB_RUN_ID: '4711',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_OUTPUT,
      GITHUB_STATE,
      GITHUB_STEP_SUMMARY,
      ...variables,
      ...prefixed('INPUT_', given, (key) => key.toUpperCase()),
      ...prefixed('STATE_', name === 'post' ? this.state : {}),
    };
    if (name === 'main') this.variables = env;
    return new Promise((done) => {
      this.worker.on('message', ({ ended }: { ended?: StepEnd }) => {
        if (ended) done(ended);
      });
      this.worker.once('exit', (code, signal) => done({ code, signal, output: '' }));
      this.worker.send({ command: [this.node, action[name]], env });
    });
  }

  private read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }
}

const prefixed = (
  prefix: string,
  values: Readonly<Record<string, string>>,
  named = (key: string): string => key,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + named(key), value]));

/** The runner's file protocol: `name<<delimiter`, lines, the delimiter. The last value of a name counts. */
function valuesIn(text: string): Record<string, string> {
  const found = text.matchAll(/^([^\n<]+)<<([^\n]+)\n([\s\S]*?)\n\2$/gm);
  return Object.fromEntries([...found].map(([, name, , value]) => [name!, value!]));
}

/** What a runner finds of a job, and ends: the processes that have this in their environment. */
export const processesOf = (trackingId: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readProc(name, 'environ').includes(trackingId))
    .map(Number);

/** @returns empty for a process that has ended, or of another user */
export function readProc(pid: string | number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
