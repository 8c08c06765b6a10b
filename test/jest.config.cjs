const { availableParallelism } = require('node:os');
const { join } = require('node:path');

const ROOT = join(__dirname, '..');

const shared = {
  rootDir: ROOT,
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@drawbridge/source', 'node', 'node-addons'] },
  setupFiles: ['reflect-metadata'],
  transform: {
    '^.+\\.(ts|m?js)$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
          target: 'es2022',
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(?:@nestjs|file-type|strtok3|token-types|uint8array-extras|@tokenizer/inflate|@borewit/text-codec|@noble/hashes)/)',
  ],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

/** pure: no I/O, seconds. store: real PostgreSQL. e2e: real processes. chaos: real processes, and faults. */
module.exports = {
  rootDir: ROOT,
  testTimeout: 120_000,
  testSequencer: '<rootDir>/test/longest-first.cjs',
  // tests with real processes mostly wait for them
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  projects: [
    {
      ...shared,
      displayName: 'pure',
      testMatch: [
        '<rootDir>/{apps,libs}/**/*.spec.ts',
        '<rootDir>/test/floors/*.spec.ts',
        '<rootDir>/test/hostile/*.spec.ts',
        '<rootDir>/test/conformance/*.spec.ts',
        '<rootDir>/test/chaos/oracles/*.spec.ts',
        '<rootDir>/test/simulation/*.spec.ts',
      ],
    },
    {
      ...shared,
      displayName: 'store',
      testMatch: ['<rootDir>/test/store/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/harness/global-setup.ts',
      globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
    },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/harness/global-setup.ts',
      globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
    },
    {
      ...shared,
      displayName: 'chaos',
      testMatch: ['<rootDir>/test/chaos/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/chaos/oracles/'],
      globalSetup: '<rootDir>/test/harness/global-setup.ts',
      globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
    },
  ],
};
