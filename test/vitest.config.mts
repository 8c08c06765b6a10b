import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { config } from './vitest.shared.mts';

/** What an ordinary change breaks; everything else is in vitest.long.config.mts. */
export default defineConfig(
  config({
    pure: [
      '{apps,libs}/**/*.spec.ts',
      'test/{layers,hostile,conformance,simulation}/*.spec.ts',
      'test/chaos/oracles/*.spec.ts',
    ],
    product: ['test/{store,e2e}/**/*.spec.ts'],
    exclude: ['**/*.long.spec.ts'],
    workers: availableParallelism() + 2,
  }),
);
