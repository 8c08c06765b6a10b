import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AS_NOBODY, NOBODY, type Network } from '../network/network';
import { until } from '../until';

const BUNDLE = resolve(__dirname, '../../../dist/agent/drawbridge-agent.cjs');
const CAPABILITY = [
  '--inh-caps=-all,+net_admin',
  '--ambient-caps=-all,+net_admin',
  '--bounding-set=-all,+net_admin',
];
const NO_CAPABILITY = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'];

export interface AgentSetting {
  readonly server: string;
  readonly name: string;
  readonly key: string;
  /** name of its state file, in the network's folder: the same across restarts */
  readonly installation?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** false: it starts without CAP_NET_ADMIN */
  readonly mayGuard?: boolean;
  /** a command line that runs it */
  readonly prefix?: readonly string[];
}

/** The shipped agent on a host: one file, run by a user without other rights than CAP_NET_ADMIN. */
export class AgentProcess {
  private readonly lines: string[] = [];
  readonly gone: Promise<number | null>;

  private readonly child: ChildProcess;

  private constructor(program: string, args: readonly string[], key = '') {
    const env = { PATH: process.env['PATH'], DRAWBRIDGE_AGENT_KEY: key };
    this.child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.on('data', (chunk: Buffer) => this.lines.push(chunk.toString()));
    }
    this.gone = new Promise((ended) => this.child.once('close', ended));
  }

  static start(network: Network, setting: AgentSetting): AgentProcess {
    const [program, args] = commandLine(network, setting, [
      '--server',
      setting.server,
      '--name',
      setting.name,
    ]);
    return new AgentProcess(program, args, setting.key);
  }

  /** Runs one of its commands on the host, and waits until it exits. */
  static async run(
    network: Network,
    setting: Partial<AgentSetting>,
    ...args: readonly string[]
  ): Promise<{ code: number | null; output: string }> {
    const [program, line] = commandLine(network, setting, args);
    const agent = new AgentProcess(program, line, setting.key);
    const code = await agent.gone;
    return { code, output: agent.output };
  }

  get pid(): number {
    return this.child.pid!;
  }

  get output(): string {
    return this.lines.join('');
  }

  /** Waits until its output contains this. @throws Error with the output */
  async says(words: string): Promise<void> {
    try {
      await until(`the agent says: ${words}`, () => Promise.resolve(this.output.includes(words)));
    } catch (error) {
      throw new Error(`It said:\n${this.output}`, { cause: error });
    }
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.gone;
  }
}

export function stateFile(network: Network, installation = 'first'): string {
  const folder = join(network.folder, installation);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(network.folder, NOBODY, NOBODY);
  chownSync(folder, NOBODY, NOBODY);
  return join(folder, 'state.json');
}

/** Writes it as the agent's user would. */
export function writeStateFile(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, NOBODY, NOBODY);
}

/** A copy that its user can read, wherever this repository is. */
function bundleOn(network: Network): string {
  const copy = join(network.folder, 'drawbridge-agent');
  copyFileSync(BUNDLE, copy);
  return copy;
}

function commandLine(
  network: Network,
  { installation, args = [], mayGuard = true, prefix = [], env = {} }: Partial<AgentSetting>,
  given: readonly string[],
): [string, string[]] {
  const state = ['--state-file', stateFile(network, installation)];
  const rights = [...AS_NOBODY, ...(mayGuard ? CAPABILITY : NO_CAPABILITY)];
  // as its own user: some settings name files that only their owner may open
  const variables = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  return network.onHost(
    ...prefix,
    ...rights,
    ...variables,
    process.execPath,
    bundleOn(network),
    ...given,
    ...state,
    ...args,
  );
}
