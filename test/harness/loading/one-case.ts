import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import type { SourceEdit } from '../../simulation/planted-bugs';

type Work = () => unknown;
type Hook = 'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll';

interface Block {
  readonly name: string;
  readonly parent: Block | null;
  readonly hooks: Readonly<Record<Hook, Work[]>>;
}

/** A test of a suite with its blocks, from the outermost one on. */
interface Case {
  readonly name: string;
  readonly blocks: readonly Block[];
  readonly test: Work;
}

const ROOT = join(__dirname, '../../..');
const requireSource = createRequire(__filename);
const blockOf = (name: string, parent: Block | null): Block => ({
  name,
  parent,
  hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] },
});

/**
 * Runs one test of a suite between its hooks, with the suite and all sources that it needs loaded anew.
 * @param path of the suite, relative to the repository's root
 * @param test a part of its name, with those of its blocks
 * @param edits of the sources
 * @throws what the test throws
 */
export async function runCase(path: string, test: string, edits: readonly SourceEdit[]): Promise<void> {
  const { editSources } = requireSource('./typescript.cjs') as {
    editSources: (edits: readonly SourceEdit[]) => void;
  };
  forgetSources();
  editSources(edits);
  try {
    const found = collect(join(ROOT, path)).find(({ name }) => name.includes(test));
    if (!found) throw new Error(`${path} has no test ${test}`);
    await runBetweenHooks(found);
  } finally {
    editSources([]);
    forgetSources();
  }
}

/** Packages stay loaded. */
function forgetSources(): void {
  for (const path of Object.keys(requireSource.cache))
    if (path.startsWith(ROOT + sep) && path.endsWith('.ts')) delete requireSource.cache[path];
}

/** The tests of a suite, which is loaded and does not run. */
function collect(path: string): Case[] {
  const cases: Case[] = [];
  let current = blockOf('', null);
  const describe = (name: string, register: Work): void => {
    current = blockOf(name, current);
    register();
    current = current.parent!;
  };
  const it = (name: string, test: Work): void => {
    const blocks = blocksAround(current);
    cases.push({ name: [...blocks.map((block) => block.name), name].join(' > '), blocks, test });
  };
  const hook = (kind: Hook) => (work: Work) => void current.hooks[kind].push(work);
  const collecting = {
    describe: Object.assign(describe, { each: eachOf(describe) }),
    it: Object.assign(it, { each: eachOf(it) }),
    beforeAll: hook('beforeAll'),
    beforeEach: hook('beforeEach'),
    afterEach: hook('afterEach'),
    afterAll: hook('afterAll'),
  };
  const usual = Object.fromEntries(
    Object.keys(collecting).map((name) => [name, Reflect.get(globalThis, name) as unknown]),
  );
  Object.assign(globalThis, collecting);
  try {
    requireSource(path);
  } finally {
    Object.assign(globalThis, usual);
  }
  return cases;
}

const blocksAround = (inner: Block): Block[] =>
  inner.parent === null ? [] : [...blocksAround(inner.parent), inner];

async function runBetweenHooks({ blocks, test }: Case): Promise<void> {
  const run = async (kind: Hook, order: readonly Block[]): Promise<void> => {
    for (const { hooks } of order) for (const work of hooks[kind]) await work();
  };
  try {
    await run('beforeAll', blocks);
    await run('beforeEach', blocks);
    await test();
  } finally {
    await run('afterEach', blocks.toReversed());
    await run('afterAll', blocks.toReversed());
  }
}

const eachOf =
  (register: (name: string, test: Work) => void) =>
  (rows: readonly unknown[]) =>
  (name: string, test: (...row: unknown[]) => unknown): void => {
    for (const row of rows) {
      const values = Array.isArray(row) ? (row as unknown[]) : [row];
      const left = [...values];
      register(
        name.replace(/%s/g, () => String(left.shift())),
        () => test(...values),
      );
    }
  };
