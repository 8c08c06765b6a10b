import { join } from 'node:path';
import { transform } from '@swc/core';
import type { ViteUserConfig } from 'vitest/config';
import { swcOptions } from './harness/swc.cjs';
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

/** Of a kind of run. Patterns are relative to the repository's root. */
interface Suites {
  /** without a database; they start within a second */
  readonly pure: readonly string[];
  /** with the PostgreSQL server that is started once for a run, and mostly with processes of the product */
  readonly product: readonly string[];
  readonly exclude: readonly string[];
  /** A worker of a product's suites mostly waits for processes. It takes a gigabyte with them. */
  readonly workers: number;
}

/**
 * The suites of one worker share its modules, and the products that `Drawbridge.shared` starts: most of what a suite needs is
 * loaded already. So a suite leaves no patched object, open handle or changed variable of the environment behind.
 */
export function config({ pure, product, exclude, workers }: Suites): ViteUserConfig {
  const project = (name: string, include: readonly string[], globalSetup: string[]) => ({
    extends: true as const,
    test: { name, include: [...include], exclude: ['**/node_modules/**', ...exclude], globalSetup },
  });
  return {
    root: join(import.meta.dirname, '..'),
    plugins: [decorators],
    oxc: false,
    resolve: { conditions: ['@drawbridge/source'] },
    ssr: { resolve: { conditions: ['@drawbridge/source'] } },
    test: {
      globals: true,
      pool: 'forks',
      isolate: false,
      maxWorkers: workers,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      setupFiles: ['reflect-metadata'],
      sequence: { sequencer: LongestFirst },
      reporters: ['default', new SlowestSuites()],
      projects: [
        project('product', product, ['test/harness/test-server.ts']),
        project('pure', pure, []),
      ],
    },
  };
}
