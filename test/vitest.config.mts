import { existsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { transform } from '@swc/core';
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config';
import { swcOptions } from '../tools/swc.cjs';
import { LongestFirst } from './longest-first.mts';
import { SlowestSuites } from './slowest-suites.mts';

type Plugin = NonNullable<ViteUserConfig['plugins']>[number];

/** NestJS and class-validator read the types of decorated members at run time; Vite's own compiler leaves some out. */
const decorators: Plugin = {
  name: 'decorators',
  enforce: 'pre',
  async transform(source, id) {
    if (!id.endsWith('.ts') || id.includes('/node_modules/')) return null;
    const { code, map } = await transform(source, { ...swcOptions(id, 'es6'), sourceMaps: true });
    return { code, map: map ?? null };
  },
};

const ROOT = join(import.meta.dirname, '..');

/** The product as it is built: to compile and evaluate its sources again in each worker takes a fifth of a run. */
const built: Plugin = {
  name: 'built',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (!/^[.#]/.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const [, path] = /^(?:dist\/)?((?:apps|libs)\/.*)\.[jt]s$/.exec(relative(ROOT, found?.id ?? '')) ?? [];
    const file = join(ROOT, 'dist', `${path}.js`);
    return path !== undefined && existsSync(file) ? file : null;
  },
};

/** What takes minutes, or other machines and versions: `npm run test:long`. */
const LONG = '**/*.long.spec.ts';
/** Globs of suites that another part of `.ci/run` runs. */
const ELSEWHERE = process.env['TESTED_ELSEWHERE']?.trim().split(' ') ?? [];
const CORES = availableParallelism();
/** These never wait, and each worker loads their modules anew. */
const pure = { maxWorkers: CORES + 1, sequence: { groupOrder: 0 } };
/** A worker of suites with a product, or of a driver's time-outs, mostly waits. With its processes it takes a gigabyte. */
const FITTING = Math.max(2, Math.floor(totalmem() / 1.5e9));
/** With four workers more on two cores, each suite takes a quarter more of the processors: they share their caches. */
const BUSY = Math.min(CORES + 3, FITTING);
const product = { maxWorkers: BUSY, sequence: { groupOrder: 1 } };
/** Some of these keep both cores busy by themselves, or wait for promises of a minute. */
const long = {
  maxWorkers: BUSY,
  sequence: { groupOrder: 2 },
  testTimeout: 1_800_000,
};
/** One PostgreSQL for the whole run. */
const server = { globalSetup: ['test/harness/product/test-server.ts'] };

/** @param include relative to the repository's root */
const project = (
  name: string,
  include: string[],
  settings: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    include,
    ...settings,
    exclude: ['**/node_modules/**', ...ELSEWHERE, ...(settings?.exclude ?? [])],
  },
});

/**
 * The suites of one worker share its modules, and the products that `Drawbridge.shared` starts: most of what a suite needs is
 * loaded already. So a suite leaves no patched object, open handle or changed variable of the environment behind.
 */
export default defineConfig({
  root: ROOT,
  plugins: [decorators, built],
  oxc: false,
  test: {
    globals: true,
    server: { deps: { external: [/\/dist\/(?:apps|libs)\//] } },
    pool: 'forks',
    isolate: false,
    // for what hangs; waits end earlier, and say for what
    testTimeout: 400_000,
    hookTimeout: 400_000,
    setupFiles: ['reflect-metadata', 'test/harness/seed.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowestSuites()],
    projects: [
      project('product', ['test/{store,e2e,conformance}/**/*.spec.ts'], {
        ...product,
        ...server,
        exclude: [LONG],
      }),
      project(
        'pure',
        [
          '{apps,libs}/**/*.spec.ts',
          'test/{layers,hostile,simulation}/*.spec.ts',
          'test/chaos/oracles/*.spec.ts',
        ],
        { ...pure, exclude: [LONG] },
      ),
      project('product-long', ['test/{store,e2e}/**/*.long.spec.ts', 'test/chaos/**/*.spec.ts'], {
        ...long,
        ...server,
        exclude: ['test/chaos/oracles/**'],
      }),
      project('pure-long', ['test/{layers,hostile,conformance,simulation}/*.long.spec.ts'], long),
    ],
  },
});
