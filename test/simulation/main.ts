import { parseArgs } from 'node:util';
import { editSources } from '../harness/typescript.cjs';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs';
import { runSeeds, type SeedsRun } from './threads';
import type { World as WorldOfSeed } from './world';

const SEEDS_FOR_A_BUG = 10_000;
const MAX_SHOWN = 10;

const say = (words: string): boolean => process.stdout.write(`${words}\n`);

function bugNamed(name: string): PlantedBug {
  const bug = PLANTED_BUGS[name];
  if (bug) return bug;
  throw new Error(`There is no bug ${name}. There are: ${Object.keys(PLANTED_BUGS).join(', ')}`);
}

/** Prints one seed's history. @returns whether all held */
async function replay(seed: number): Promise<boolean> {
  const { World } = (await import('./world.js')) as { World: typeof WorldOfSeed };
  const history: string[] = [];
  const violations = await new World(seed, history).run();
  say(history.join('\n'));
  say(violations.length === 0 ? `Seed ${seed}: all held.` : `Seed ${seed}: ${violations.length} violations.`);
  return violations.length === 0;
}

function report({ found, seconds }: SeedsRun, count: number): void {
  const rate = Math.round(count / seconds);
  say(`${count} seeds in ${seconds.toFixed(1)} s, ${rate} a second: ${found.length} with violations.`);
  const byOracle = new Map<string, number>();
  for (const { violations } of found) {
    const { oracle } = violations[0]!;
    byOracle.set(oracle, (byOracle.get(oracle) ?? 0) + 1);
  }
  if (byOracle.size > 0) say([...byOracle].map(([name, times]) => `${name}: ${times}`).join(', '));
  for (const { seed, violations } of found.slice(0, MAX_SHOWN)) {
    const { oracle, atMs, words } = violations[0]!;
    say(`--seed ${seed}: ${oracle} at ${(atMs / 1000).toFixed(3)} s: ${words}`);
  }
}

/** Each planted bug must be found. @returns whether all were */
async function proveBugs(): Promise<boolean> {
  let all = true;
  for (const [name, { what, edits }] of Object.entries(PLANTED_BUGS)) {
    const run = await runSeeds({ first: 1, count: SEEDS_FOR_A_BUG, stopAtFirst: true, edits });
    const first = run.found[0];
    all &&= first !== undefined;
    const words = first
      ? `found by seed ${first.seed}: ${first.violations[0]!.oracle}, ${first.violations[0]!.words}`
      : `NOT FOUND in ${SEEDS_FOR_A_BUG} seeds`;
    say(`${name} (${what}), ${run.seconds.toFixed(1)} s: ${words}`);
  }
  return all;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      bug: { type: 'string' },
      bugs: { type: 'boolean', default: false },
    },
  });
  const edits = values.bug === undefined ? [] : bugNamed(values.bug).edits;
  if (values.bugs) return proveBugs();
  if (values.seed !== undefined) {
    editSources(edits);
    return replay(Number(values.seed));
  }
  const count = Number(values.seeds);
  const run = await runSeeds({ first: Number(values.first), count, stopAtFirst: false, edits });
  report(run, count);
  return run.found.length === 0;
}

main().then(
  (held) => process.exit(held ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(2);
  },
);
