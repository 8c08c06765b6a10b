import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Network } from './network';
import { until } from './until';

const BUNDLE = resolve(__dirname, '../../dist/agent/drawbridge-agent.cjs');
/** Nobody: all that it may do more than others is to change the firewall. */
const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'];
const CAPABILITY = ['--inh-caps=-all,+net_admin', '--ambient-caps=-all,+net_admin', '--bounding-set=-all,+net_admin'];
const NO_CAPABILITY = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'];

export interface AgentSetting {
  readonly server: string;
  readonly name: string;
  readonly key: string;
  /** of its state file, in the network's folder: the same one across restarts */
  readonly installation?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** false: it may not even change the firewall */
  readonly mayGuard?: boolean;
}

/** The agent on a host, as it is shipped: one file, a user who may do nothing, and CAP_NET_ADMIN. */
export class AgentProcess {
  private readonly lines: string[] = [];
  readonly gone: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => this.lines.push(chunk.toString()));
    }
    this.gone = new Promise((ended) => child.once('exit', ended));
  }

  static start(network: Network, setting: AgentSetting): AgentProcess {
    const [program, args] = commandLine(network, setting, ['--server', setting.server, '--name', setting.name]);
    const env = { PATH: process.env['PATH'], DRAWBRIDGE_AGENT_KEY: setting.key, ...setting.env };
    return new AgentProcess(spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Runs one of its commands on the host, to its end. */
  static run(
    network: Network,
    setting: Partial<AgentSetting>,
    ...args: readonly string[]
  ): { code: number | null; output: string } {
    const [program, line] = commandLine(network, setting, args);
    const env = { PATH: process.env['PATH'], ...(setting.key ? { DRAWBRIDGE_AGENT_KEY: setting.key } : {}), ...setting.env };
    const { status, stdout, stderr } = spawnSync(program, line, { env, encoding: 'utf8' });
    return { code: status, output: stdout + stderr };
  }

  get pid(): number {
    return this.child.pid!;
  }

  get output(): string {
    return this.lines.join('');
  }

  /** Waits until it has said this. */
  says(words: string | RegExp): Promise<string> {
    return until(
      `the agent says ${String(words)}; it said:\n${this.output}`,
      () => Promise.resolve(new RegExp(words).test(this.output) && this.output),
    );
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

function commandLine(
  network: Network,
  { installation, args = [], mayGuard = true }: Partial<AgentSetting>,
  given: readonly string[],
): [string, string[]] {
  const state = ['--state-file', stateFile(network, installation)];
  const rights = [...AS_NOBODY, ...(mayGuard ? CAPABILITY : NO_CAPABILITY)];
  return network.onHost(...rights, process.execPath, BUNDLE, ...given, ...state, ...args);
}
