import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { neededInCi } from '../harness/needed-in-ci';

/** Whether Python is installed. */
export const hasPython = neededInCi('python3', spawnSync('python3', ['-c', 'import ipaddress']).status === 0);

/** Python's canonical spelling of a text; null when it refuses the text. */
export type Reading = readonly [host: string | null, network: string | null, isGlobal: boolean | null];

/** Python's ipaddress, in one process for all batches. */
export class Oracle {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: Interface,
  ) {}

  static start(): Oracle {
    const child = spawn('python3', [join(__dirname, 'address-oracle.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return new Oracle(child, createInterface({ input: child.stdout }));
  }

  async read(texts: readonly string[]): Promise<Reading[]> {
    const answer = once(this.lines, 'line');
    this.child.stdin!.write(`${JSON.stringify(texts)}\n`);
    const [line] = (await answer) as [string];
    return JSON.parse(line) as Reading[];
  }

  stop(): void {
    this.child.stdin!.end();
  }
}
