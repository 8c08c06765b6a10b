/** The floors: libs/rules and libs/config rest on nothing, other libs on those two, apps on libs, tests on all. */
const only = (name, module, ...places) => ({
  name: `${name}-stays-home`,
  comment: `${module} is imported only where it belongs`,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: places.map((place) => `^${place}`) },
  to: { path: `node_modules/${module}` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'ground-floor-rests-on-nothing',
      severity: 'error',
      from: { path: '^libs/(rules|config)/' },
      to: { path: '^(libs|apps|test)/', pathNot: '^libs/$1/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'no framework and no I/O in libs/rules; ipaddr.js parses addresses',
      severity: 'error',
      from: { path: '^libs/rules/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: ['node_modules/ipaddr\\.js', '^net$'] },
    },
    {
      name: 'libs-rest-on-the-ground-floor-only',
      severity: 'error',
      from: { path: '^libs/(entities|secrets|guards|drivers|jobs|logs|metrics)/' },
      to: { path: '^(libs|apps|test)/', pathNot: ['^libs/$1/', '^libs/(rules|config)/'] },
    },
    {
      name: 'engine-store-rests-on-entities',
      comment: 'what the engine reads and writes; it knows no tenant query',
      severity: 'error',
      from: { path: '^libs/engine-store/' },
      to: { path: '^(libs|apps|test)/', pathNot: ['^libs/engine-store/', '^libs/(rules|config|entities)/'] },
    },
    {
      name: 'tenant-store-reaches-the-engine-by-its-port',
      comment: "desire, release and the ledger: the rest of the engine store is the engine's",
      severity: 'error',
      from: { path: '^libs/tenant-store/' },
      to: {
        path: '^(libs|apps|test)/',
        pathNot: [
          '^libs/tenant-store/',
          '^libs/(rules|config|entities)/',
          '^libs/engine-store/src/port\\.ts$',
        ],
      },
    },
    {
      name: 'the-engine-knows-no-tenant-query-and-no-framework',
      severity: 'error',
      from: { path: '^libs/engine/' },
      to: {
        path: '^(libs|apps|test)/|node_modules/@nestjs',
        pathNot: ['^libs/engine/', '^libs/(rules|config|entities|engine-store|drivers|secrets|jobs)/'],
      },
    },
    {
      name: 'the-api-reaches-the-engine-by-its-port',
      comment: 'agents settle what they report through the engine; every other feature sees the port alone',
      severity: 'error',
      from: { path: '^apps/api/', pathNot: '^apps/api/src/agents/' },
      to: { path: '^libs/(engine|engine-store)/', pathNot: '^libs/engine-store/src/port\\.ts$' },
    },
    {
      name: 'libs-are-entered-by-their-index',
      comment: 'test/hostile reaches every parser, also those that a library keeps to itself',
      severity: 'error',
      from: { path: '^(apps|libs|test)/([^/]+)/', pathNot: '^test/hostile/' },
      to: {
        path: '^libs/([^/]+)/src/',
        pathNot: ['^libs/[^/]+/src/index\\.ts$', '^libs/engine-store/src/port\\.ts$', '^libs/$2/'],
      },
    },
    {
      name: 'providers-know-nothing-of-each-other',
      comment: 'the registry alone knows the providers; tenant-url serves those that tenants name by a URL',
      severity: 'error',
      from: { path: '^libs/drivers/(?:src/)?([^/]+)', pathNot: '^libs/drivers/src/registry\\.ts$' },
      to: {
        path: '^libs/drivers/src/[^/]+/',
        pathNot: ['^libs/drivers/src/$1/', '^libs/drivers/src/tenant-url/'],
      },
    },
    {
      name: 'apps-never-rest-on-each-other',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^(apps|test)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'the-agent-travels-light',
      comment: 'it runs on hosts of others: rules and the environment, an address parser, Node.js',
      severity: 'error',
      from: { path: '^apps/agent/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs|node_modules)/', pathNot: ['^libs/(rules|config)/', '^node_modules/ipaddr\\.js'] },
    },
    only('typeorm', 'typeorm', 'libs/entities/'),
    only('bullmq', 'bullmq', 'libs/jobs/', 'apps/worker/src/convergence/'),
    only('aws-sdk', '@aws-sdk', 'libs/drivers/src/aws/', 'apps/simulator/.*\\.spec\\.ts'),
    only('azure-sdk', '@azure', 'libs/drivers/src/azure/', 'apps/simulator/.*\\.spec\\.ts'),
    only('bcrypt', 'bcrypt', 'libs/secrets/'),
    only('prom-client', 'prom-client', 'libs/metrics/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@drawbridge/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
