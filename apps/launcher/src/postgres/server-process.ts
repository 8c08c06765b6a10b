import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { signal } from '../processes';

const MAX_LINES = 20;

/** A running initdb or server: its output, its exit, and stopping it. */
export class ServerProcess {
  /** Describes the exit, once all output was read; never rejects. */
  readonly ended: Promise<string>;
  private lines: string[] = [];
  private readonly awaited = new Map<string, () => void>();

  constructor(
    private readonly child: ChildProcess,
    private readonly onLog: (line: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface(stream).on('line', (line) => this.handleLine(line));
    }
    this.ended = new Promise((done) => {
      child.once('error', (error) => done(error.message));
      child.once('close', (code, name) => done(name ? `signal ${name}` : `exit code ${code}`));
    });
  }

  get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Whether one of the last lines matches. */
  hasPrinted(pattern: RegExp): boolean {
    return this.lines.some((line) => pattern.test(line));
  }

  /** Resolves as soon as a line contains this text; may never resolve. */
  waitForOutput(text: string): Promise<void> {
    return new Promise((done) => this.awaited.set(text, done));
  }

  /** @returns an error with the last output lines */
  failure(problem: string): Error {
    return new Error([`${problem}. Its last output:`, ...this.lines].join('\n  '));
  }

  /** Sends each signal in turn and waits the given milliseconds for the exit. Never rejects. */
  async end(steps: [NodeJS.Signals, number][]): Promise<void> {
    if (!this.isRunning) return;
    const exited = new Promise((done) => this.child.once('exit', done));
    for (const [name, timeoutMs] of steps) {
      this.signal(name);
      const timer = new AbortController();
      await Promise.race([exited, delay(timeoutMs, undefined, { signal: timer.signal })]);
      timer.abort();
      if (!this.isRunning) return;
    }
  }

  /** Sends a signal, SIGKILL to the whole process group; no effect after its exit. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined && this.isRunning) signal(name === 'SIGKILL' ? -pid : pid, name);
  }

  private handleLine(line: string): void {
    this.lines = [...this.lines, line].slice(-MAX_LINES);
    for (const [text, done] of this.awaited) if (line.includes(text)) done();
    this.onLog(line);
  }
}
