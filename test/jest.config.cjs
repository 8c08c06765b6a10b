const { config, project, WITH_SERVER } = require('./jest.shared.cjs');

/** What takes minutes is in jest.long.config.cjs. */
const NOT_LONG = { testPathIgnorePatterns: ['/node_modules/', '\\.long\\.spec\\.ts$'] };

module.exports = config(
  [
    project(
      'pure',
      [
        '{apps,libs}/**/*.spec.ts',
        'test/layers/*.spec.ts',
        'test/hostile/*.spec.ts',
        'test/conformance/*.spec.ts',
        'test/chaos/oracles/*.spec.ts',
        'test/simulation/*.spec.ts',
      ],
      NOT_LONG,
    ),
    project('store', ['test/store/**/*.spec.ts'], { ...WITH_SERVER, ...NOT_LONG }),
    project('e2e', ['test/e2e/**/*.spec.ts'], { ...WITH_SERVER, ...NOT_LONG }),
  ],
  2,
);
