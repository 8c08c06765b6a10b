import { execFileSync, execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A container as compose and the chart start it: a root file system that nobody can write, and an empty /tmp. */
const CONTAINER = `
set -e
cd "$1"
[ -e etc/hosts ] || : > etc/hosts
mount --bind . . && cd "$1"
mount -t proc proc proc
mount --rbind /dev dev
mount --bind /etc/hosts etc/hosts
mount -t tmpfs tmpfs tmp
mount -o remount,bind,ro .
exec chroot --userspec="$2" --groups= . /usr/bin/env --chdir="$3" "\${@:4}"`;

interface Config {
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Env: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

/** An image that was built, its root file system mounted and its configuration beside it: see .ci/release. */
export class BuiltImage {
  private readonly config: Config;

  /** @param folder with `<target>`, the root file system, and `<target>.json`, its configuration */
  constructor(
    private readonly folder: string,
    private readonly target: 'api' | 'worker' | 'agent',
  ) {
    const text = readFileSync(join(folder, `${target}.json`), 'utf8');
    this.config = (JSON.parse(text) as { config: Config }).config;
  }

  get env(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.config.Env.map((pair) => [pair.split('=', 1)[0]!, pair.slice(pair.indexOf('=') + 1)]),
    );
  }

  /** What its health check runs. */
  get healthCheck(): readonly string[] {
    return this.config.Healthcheck!.Test.slice(1);
  }

  /** @param given a command in place of the image's own @returns the program and its arguments */
  command(given = this.config.Cmd ?? []): [string, ...string[]] {
    const { User, WorkingDir, Entrypoint } = this.config;
    const root = join(this.folder, this.target);
    const inside = [root, User || '0:0', WorkingDir || '/', ...(Entrypoint ?? []), ...given];
    return ['unshare', '--mount', 'bash', '--norc', '-c', CONTAINER, 'container', ...inside];
  }

  /** Runs a command in a new container. @throws Error with its output when it fails */
  async run(given: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const [program, ...args] = this.command(given);
    const { stdout } = await promisify(execFile)(program, args, { env: { ...this.env, ...env } });
    return stdout.trim();
  }

  /** Its size without compression, MB. */
  get megabytes(): number {
    const bytes = execFileSync('du', ['-sb', `${join(this.folder, this.target)}/`], { encoding: 'utf8' });
    return Number.parseInt(bytes, 10) / 1e6;
  }
}
