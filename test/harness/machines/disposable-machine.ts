import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neededInCi } from '../needed-in-ci';
import type { Network } from '../network/network';

/** Mounts an overlay of this machine's files at $0/root; what is written to it is in memory. */
const OVERLAY = `
  mount -t tmpfs tmpfs "$0" && cd "$0" && mkdir upper work root &&
  mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root &&
  mount --rbind /proc root/proc && mount --rbind /dev root/dev && mount -t tmpfs tmpfs root/tmp`;

/** systemd cannot run in a namespace of files: calls are recorded, and succeed. */
const SYSTEMCTL = '#!/bin/sh\necho "$*" >>/var/log/systemctl.log\n';

/** Whether this machine supports overlays. */
export const hasOverlays = neededInCi('an overlay file system (root, CAP_SYS_ADMIN)', canOverlay());

function canOverlay(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-probe-'));
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', OVERLAY, folder]);
  rmSync(folder, { recursive: true, force: true });
  return status === 0;
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/**
 * A copy of this machine's files on a network's host, in which root may install anything. Gone when it stops. It looks as
 * if systemd ran there.
 */
export class DisposableMachine {
  private constructor(
    private readonly holder: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(network: Network): Promise<DisposableMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-machine-'));
    const script = `${OVERLAY} && echo ready && exec sleep infinity`;
    const [program, args] = network.onHost('unshare', '--mount', 'sh', '-c', script, folder);
    const holder = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((ready, failed) => {
      holder.stdout.once('data', ready);
      holder.once('exit', () => failed(new Error('The overlay cannot be mounted')));
    });
    const machine = new DisposableMachine(holder, folder);
    mkdirSync(machine.path('/run/systemd/system'), { recursive: true });
    machine.write('/usr/bin/systemctl', SYSTEMCTL, 0o755);
    return machine;
  }

  /** The command line that runs something on it. */
  inside(...command: readonly string[]): [string, string[]] {
    const namespaces = [`--target=${this.holder.pid}`, '--mount', '--net'];
    return ['nsenter', [...namespaces, 'chroot', join(this.folder, 'root'), ...command]];
  }

  /** Runs a script with dash. @param answer typed on its terminal as soon as it asks; without it there is none */
  async run(script: string, env: Readonly<Record<string, string>> = {}, answer?: string): Promise<Ran> {
    const command = answer === undefined ? ['setsid', '--wait', 'dash', '-c', script] : onTerminal(script);
    const [program, args] = this.inside(...command);
    const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...env } });
    let output = '';
    let isAnswered = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (answer === undefined || isAnswered || !output.includes('API key of')) return;
        isAnswered = true;
        child.stdin.write(`${answer}\n`);
      });
    }
    const code = await new Promise<number | null>((ended) => child.once('close', ended));
    child.stdin.end();
    return { code, output };
  }

  /** undefined: there is no such file */
  read(path: string): string | undefined {
    const { status, stdout } = spawnSync(...this.inside('cat', path), { encoding: 'utf8' });
    return status === 0 ? stdout : undefined;
  }

  /** Every call of systemctl so far. */
  get systemctl(): string[] {
    return (this.read('/var/log/systemctl.log') ?? '').split('\n').filter((line) => line !== '');
  }

  write(path: string, text: string, mode = 0o644): void {
    writeFileSync(this.path(path), text, { mode });
  }

  stop(): void {
    this.holder.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The path through which this process sees a file of the machine. */
  private path(path: string): string {
    return join(`/proc/${this.holder.pid}/root`, this.folder, 'root', path);
  }
}

const onTerminal = (script: string): string[] => [
  'script',
  '--quiet',
  '--return',
  '--command',
  script,
  '/dev/null',
];
