import { configureGlobal } from 'fast-check';

/**
 * What random cases of a run are made from. It is the same for each run, so that only a change turns one red; SEED names another
 * one, as .github/workflows/random.yml does each night.
 */
export const SEED = Number(process.env['SEED'] ?? 466);

configureGlobal({ seed: SEED });
