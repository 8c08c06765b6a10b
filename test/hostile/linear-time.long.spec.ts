import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Of the processor, by the kernel's account: with linear parsers it is ten seconds. */
const ALL_SECONDS = 600;
const PLANTED_SECONDS = 120;

/** @returns the parser and the shape at which the process died, or `all` */
async function diesAt(seconds: number, ...more: string[]): Promise<string> {
  const program = ['-r', 'reflect-metadata', '-r', './test/harness/loading/typescript.cjs'];
  const child = spawn(
    'sh',
    [
      '-c',
      'ulimit -t "$0" && exec "$@"',
      String(seconds),
      process.execPath,
      ...program,
      join(__dirname, 'parse-everything.ts'),
      ...more,
    ],
    { cwd: join(__dirname, '../..'), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'close');
  let last = 'nothing';
  for await (const line of createInterface({ input: child.stdout })) last = line;
  await ended;
  return last;
}

describe('A parser takes linear time for a text of 64 kB', () => {
  it('which a planted quadratic expression does not', async () => {
    expect(await diesAt(PLANTED_SECONDS, '--planted')).toMatch(/^a planted expression: .*letters/);
  });

  it(
    'each one, for each shape',
    async () => {
      expect(await diesAt(ALL_SECONDS)).toBe('all');
    },
    2 * ALL_SECONDS * 1000,
  );
});
