import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { editSources } from '../harness/loading/typescript.cjs';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs';
import { runSeeds, seedsFrom, type SeedsRun } from './threads';
import type { World as SeedWorld } from './world';

const MAX_SEEDS_PER_BUG = 10_000;
const MAX_SHOWN = 10;
const FOUND_LATELY = join(__dirname, 'found-lately.json');
/** The seed that has found each planted bug lately. */
const foundLately = JSON.parse(readFileSync(FOUND_LATELY, 'utf8')) as Readonly<Record<string, number>>;

const HELP = `Runs the product's engine through random histories in virtual time, and checks the guarantees.

  npm run simulate -- [--seeds N] [--first N] [--bug NAME]
  npm run simulate -- --seed N [--bug NAME]
  npm run simulate -- --bugs [--keep]

  --seeds  number of seeds to run, on all cores (1000)
  --first  the first seed (1)
  --seed   run one seed and print its history
  --bug    plant this bug into the sources before they are loaded
  --bugs   find every planted bug within ${MAX_SEEDS_PER_BUG} seeds each
  --keep   write the seeds that find them into test/simulation/found-lately.json, where the next search begins

Exit status: 0 no violation (--bugs: every bug was found), 1 otherwise, 2 the arguments are wrong or the run failed.

Bugs: ${Object.keys(PLANTED_BUGS).join(', ')}
`;

/** The arguments are wrong: the usage is printed instead of a stack trace. */
class UsageError extends Error {}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

function bugNamed(name: string): PlantedBug {
  const bug = PLANTED_BUGS[name];
  if (bug) return bug;
  throw new Error(`There is no planted bug ${name}`);
}

/** Prints the history of one seed. @returns whether it has no violation */
async function replay(seed: number): Promise<boolean> {
  const { World } = (await import('./world.js')) as { World: typeof SeedWorld };
  const history: string[] = [];
  const violations = await new World(seed, history).run();
  print(history.join('\n'));
  print(
    violations.length === 0
      ? `Seed ${seed}: no violations.`
      : `Seed ${seed}: ${violations.length} violations.`,
  );
  return violations.length === 0;
}

function report({ found, seconds }: SeedsRun, count: number): void {
  const rate = Math.round(count / seconds);
  print(`${count} seeds in ${seconds.toFixed(1)} s, ${rate} a second: ${found.length} with violations.`);
  const byOracle = new Map<string, number>();
  for (const { violations } of found) {
    const { oracle } = violations[0]!;
    byOracle.set(oracle, (byOracle.get(oracle) ?? 0) + 1);
  }
  if (byOracle.size > 0) print([...byOracle].map(([name, times]) => `${name}: ${times}`).join(', '));
  for (const { seed, violations } of found.slice(0, MAX_SHOWN)) {
    const { oracle, atMs, message } = violations[0]!;
    print(`--seed ${seed}: ${oracle} at ${(atMs / 1000).toFixed(3)} s: ${message}`);
  }
}

/** The seed that has found it lately is likely to find it again: a search takes up to a minute. */
async function findBug(name: string, { edits }: PlantedBug): Promise<SeedsRun> {
  const lately = foundLately[name];
  const run = await runSeeds({ seeds: lately === undefined ? [] : [lately], stopAtFirst: true, edits });
  if (run.found.length > 0) return run;
  return runSeeds({ seeds: seedsFrom(1, MAX_SEEDS_PER_BUG), stopAtFirst: true, edits });
}

/** Searches for each planted bug. @param keep the seeds @returns whether all were found, by seeds that find nothing without them */
async function findBugs(keep: boolean): Promise<boolean> {
  const finders: Record<string, number> = {};
  for (const [name, planted] of Object.entries(PLANTED_BUGS)) {
    const run = await findBug(name, planted);
    const first = run.found[0];
    if (first) finders[name] = first.seed;
    const result = first
      ? `found by seed ${first.seed}: ${first.violations[0]!.oracle}, ${first.violations[0]!.message}`
      : `NOT FOUND in ${MAX_SEEDS_PER_BUG} seeds`;
    print(`${name} (${planted.what}), ${run.seconds.toFixed(1)} s: ${result}`);
  }
  const seeds = Object.values(finders);
  const { found } = await runSeeds({ seeds, stopAtFirst: false, edits: [] });
  for (const { seed } of found)
    print(`Seed ${seed} has violations without a planted bug: what it found is unproven`);
  const searched = Object.entries(finders).filter(([name, seed]) => foundLately[name] !== seed);
  if (searched.length > 0 && !keep)
    print(`${searched.length} planted bugs were searched for: npm run simulate -- --bugs --keep`);
  if (keep) writeFileSync(FOUND_LATELY, `${JSON.stringify(finders, null, 2)}\n`);
  return seeds.length === Object.keys(PLANTED_BUGS).length && found.length === 0;
}

interface Arguments {
  readonly help: boolean;
  readonly seeds: number;
  readonly first: number;
  /** null: many seeds */
  readonly seed: number | null;
  readonly bug: PlantedBug | null;
  readonly bugs: boolean;
  readonly keep: boolean;
}

/** @throws UsageError */
function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        seeds: { type: 'string', default: '1000' },
        first: { type: 'string', default: '1' },
        seed: { type: 'string' },
        bug: { type: 'string' },
        bugs: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    });
    return {
      help: values.help,
      seeds: wholeNumber('seeds', values.seeds),
      first: wholeNumber('first', values.first),
      seed: values.seed === undefined ? null : wholeNumber('seed', values.seed),
      bug: values.bug === undefined ? null : bugNamed(values.bug),
      bugs: values.bugs,
      keep: values.keep,
    };
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`--${name} takes a whole number`);
}

async function main(): Promise<boolean> {
  const { help, seeds, first, seed, bug, bugs, keep } = readArguments();
  if (help) {
    process.stdout.write(HELP);
    return true;
  }
  if (bugs) return findBugs(keep);
  const edits = bug?.edits ?? [];
  if (seed !== null) {
    editSources(edits);
    return replay(seed);
  }
  const run = await runSeeds({ seeds: seedsFrom(first, seeds), stopAtFirst: false, edits });
  report(run, seeds);
  return run.found.length === 0;
}

main().then(
  (passed) => process.exit(passed ? 0 : 1),
  (error: unknown) => {
    if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${HELP}`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(2);
  },
);
