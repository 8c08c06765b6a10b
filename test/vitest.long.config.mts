import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { config } from './vitest.shared.mts';

/** Faults and kills in real processes, many made-up histories, whatever else takes minutes. */
export default defineConfig(
  config({
    pure: ['{apps,libs,test}/**/*.long.spec.ts'],
    product: ['test/{store,e2e}/**/*.long.spec.ts', 'test/chaos/**/*.spec.ts'],
    exclude: ['test/chaos/oracles/**'],
    workers: availableParallelism() + 1,
  }),
);
