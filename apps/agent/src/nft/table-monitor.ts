import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { nftEnvironment } from './nft';
import { TABLE } from './ruleset';

const MENTIONS_TABLE = new RegExp(`\\b${TABLE}\\b`);
/** The line that ends the events of one transaction. */
const GENERATION = /^# new generation \d+ by process (\d+)/;

/** Reports changes of the agent's table by other programs, as the kernel announces them to `nft monitor`. */
export class TableMonitor {
  private child: ChildProcess | null = null;

  /**
   * @param isOwn whether a process is one that this agent changed the table with
   * @param onChange called after each transaction of another process that changed the table
   */
  constructor(
    private readonly isOwn: (pid: number) => boolean,
    private readonly onChange: () => void,
  ) {}

  get isRunning(): boolean {
    return this.child !== null;
  }

  /** Starts it unless it runs. Changes before its start, and after its end, are not reported. */
  start(): void {
    if (this.child) return;
    const child = spawn('nft', ['monitor'], { env: nftEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    let isMentioned = false;
    createInterface({ input: child.stdout }).on('line', (line) => {
      isMentioned ||= MENTIONS_TABLE.test(line);
      const pid = GENERATION.exec(line)?.[1];
      if (pid === undefined) return;
      if (isMentioned && !this.isOwn(Number(pid))) this.onChange();
      isMentioned = false;
    });
    const ended = (): void => {
      if (this.child === child) this.child = null;
    };
    // without it, or without the right to it, the table is polled
    child.once('error', ended);
    child.once('close', ended);
  }

  stop(): void {
    this.child?.kill();
    this.child = null;
  }
}
