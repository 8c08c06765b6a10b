const { availableParallelism } = require('node:os');
const { join } = require('node:path');

const rootDir = join(__dirname, '..');

/** Real processes and databases: a server is started once for a whole run. */
const WITH_SERVER = {
  globalSetup: '<rootDir>/test/harness/global-setup.ts',
  globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
  testEnvironment: '<rootDir>/test/harness/product-environment.cjs',
};

/**
 * @param projects pure: no I/O, seconds. store: real PostgreSQL. e2e: real processes. chaos: real processes, and faults.
 * @param more workers than there are cores: tests with real processes mostly wait for them. One with its products takes a
 *   gigabyte
 */
const config = (projects, more) => ({
  rootDir,
  testTimeout: 120_000,
  testSequencer: '<rootDir>/test/longest-first.cjs',
  reporters: ['default', '<rootDir>/test/slowest-suites.cjs'],
  maxWorkers: availableParallelism() + more,
  projects,
});

const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  rootDir,
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
    '/node_modules/(?!(?:@nestjs|file-type|jose|oauth4webapi|oidc-provider|openid-client|strtok3|token-types|uint8array-extras|@tokenizer/inflate|@borewit/text-codec|@noble/hashes)/)',
  ],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  ...more,
});

module.exports = { config, project, WITH_SERVER };
