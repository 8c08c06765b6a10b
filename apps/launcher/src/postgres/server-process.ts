import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { signal } from '../processes';

const KEPT_LINES = 20;

/** A running initdb or server: what it says, how it ends, and how to end it. */
export class ServerProcess {
  /** How it ended, in words, once all it printed was read; never rejects. */
  readonly ended: Promise<string>;
  private lines: string[] = [];
  private readonly awaited = new Map<string, () => void>();

  constructor(
    private readonly child: ChildProcess,
    private readonly onLog: (line: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface(stream).on('line', (line) => this.hear(line));
    }
    this.ended = new Promise((done) => {
      child.once('error', (error) => done(error.message));
      child.once('close', (code, name) => done(name ? `signal ${name}` : `exit code ${code}`));
    });
  }

  get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** True when one of the last lines holds one of these words. */
  hasSaid(words: RegExp): boolean {
    return this.lines.some((line) => words.test(line));
  }

  /** Resolves as soon as a line holds this text, or never. */
  says(text: string): Promise<void> {
    return new Promise((done) => this.awaited.set(text, done));
  }

  failure(words: string): Error {
    return new Error([`${words}. Its last words:`, ...this.lines].join('\n  '));
  }

  /** Sends each signal in turn and waits its milliseconds for the end. Never rejects. */
  async end(steps: [NodeJS.Signals, number][]): Promise<void> {
    if (!this.isRunning) return;
    const exited = new Promise((done) => this.child.once('exit', done));
    for (const [name, patience] of steps) {
      this.signal(name);
      const patienceEnds = new AbortController();
      await Promise.race([exited, delay(patience, undefined, { signal: patienceEnds.signal })]);
      patienceEnds.abort();
      if (!this.isRunning) return;
    }
  }

  /** Sends a signal, SIGKILL to the whole process group; nothing when it has ended. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined && this.isRunning) signal(name === 'SIGKILL' ? -pid : pid, name);
  }

  private hear(line: string): void {
    this.lines = [...this.lines, line].slice(-KEPT_LINES);
    for (const [text, done] of this.awaited) if (line.includes(text)) done();
    this.onLog(line);
  }
}
