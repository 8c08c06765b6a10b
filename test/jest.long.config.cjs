const { config, project, WITH_SERVER } = require('./jest.shared.cjs');

/** Faults and kills in real processes, many made-up histories, whatever else takes minutes. */
module.exports = config(
  [
    project('pure', ['test/simulation/*.long.spec.ts']),
    project('store', ['test/store/**/*.long.spec.ts'], WITH_SERVER),
    project('e2e', ['test/e2e/**/*.long.spec.ts'], WITH_SERVER),
    project('chaos', ['test/chaos/**/*.spec.ts'], {
      ...WITH_SERVER,
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/chaos/oracles/'],
    }),
  ],
  // many have bounds in time
  1,
);
