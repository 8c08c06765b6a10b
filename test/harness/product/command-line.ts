import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../until';

export const CLI = resolve(__dirname, '../../../dist/downloads/drawbridge.mjs');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of the command line. */
export class Run {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((done) => {
      child.once('close', (code, signal) => {
        done({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Waits until it has printed this, on either stream. */
  prints(text: string, withinMs?: number): Promise<boolean> {
    return until(
      () => `the command line prints ${text}, not\n${this.stdout}${this.stderr}`,
      () => Promise.resolve((this.stdout + this.stderr).includes(text)),
      withinMs,
    );
  }
}

/** Separated by single spaces, or each by itself. */
export type Words = string | readonly string[];

const each = (words: Words): readonly string[] => (typeof words === 'string' ? words.split(' ') : words);

/** The command line as a user of a machine of their own has it: the bundle that the API offers. */
export class CommandLine {
  readonly home = mkdtempSync(join(tmpdir(), 'drawbridge-cli-'));
  private readonly runs: Run[] = [];

  /** @param node the program of Node.js */
  constructor(
    private readonly env: Readonly<Record<string, string>> = {},
    private readonly node = process.execPath,
  ) {}

  get configFile(): string {
    return join(this.home, 'drawbridge', 'config.json');
  }

  get environment(): Record<string, string> {
    const { PATH = '' } = process.env;
    return { PATH, HOME: this.home, XDG_CONFIG_HOME: this.home, ...this.env };
  }

  start(words: Words, env: Readonly<Record<string, string>> = {}): Run {
    const run = new Run(
      spawn(this.node, [CLI, ...each(words)], { env: { ...this.environment, ...env }, cwd: this.home }),
    );
    this.runs.push(run);
    return run;
  }

  /** @param input what it reads; nothing else */
  async run(words: Words, input = '', env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const { child, ended } = this.start(words, env);
    // it may end without reading
    child.stdin!.on('error', () => undefined).end(input);
    return ended;
  }

  /** The one object that it prints. @throws Error unless it ends with this code */
  async json<T>(words: Words, code = 0): Promise<T> {
    const ended = await this.run([...each(words), '--output', 'json']);
    if (ended.code !== code) throw new Error(`Expected ${code}, got ${ended.code}: ${ended.stderr}`);
    return JSON.parse(ended.stdout) as T;
  }

  /** Ends what a failed test has left running. */
  async endRuns(): Promise<void> {
    for (const { child } of this.runs) if (child.exitCode === null) child.kill('SIGTERM');
    await Promise.all(this.runs.map(({ ended }) => ended));
  }

  async remove(): Promise<void> {
    await this.endRuns();
    rmSync(this.home, { recursive: true, force: true });
  }
}
