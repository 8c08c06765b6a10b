import { spawnSync } from 'node:child_process';
import { CLI } from '../harness/product/command-line';
import { figure, type Figure } from './figure';

const STARTS = 41;
const MAX_RATIO = 1.6;

/** Starts of the command line, alternating with those of a bare Node.js. */
export function cliStart(): Promise<Figure[]> {
  const bare: number[] = [];
  const own: number[] = [];
  const measure = (...args: readonly string[]): number => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args);
    if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
    return performance.now() - began;
  };
  for (let index = 0; index < STARTS; index += 1) {
    bare.push(measure('-e', '0'));
    own.push(measure(CLI, '--version'));
  }
  const floor = figure('Floor: node -e 0', 'ms', bare);
  const ratios = own.map((ms) => ms / floor.value);
  return Promise.resolve([
    floor,
    figure('drawbridge --version', 'ms', own),
    figure('drawbridge --version, to its floor', '', ratios, { atMost: MAX_RATIO }),
  ]);
}
