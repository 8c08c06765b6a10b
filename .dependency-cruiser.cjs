/** The layers: libs/rules and libs/config import nothing, other libs import those two, apps import libs, tests import all. */
const only = (name, module, ...places) => ({
  name: `${name}-only-in-its-layer`,
  comment: `${module} is imported only where it belongs`,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: places.map((place) => `^${place}`) },
  to: { path: `node_modules/${module}(?:/|$)` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-folder-cycles',
      comment: 'a folder of the API that needs another is not needed by it',
      severity: 'error',
      scope: 'folder',
      from: { path: '^apps/api/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'base-layer-imports-nothing',
      severity: 'error',
      from: { path: '^libs/(rules|config)/' },
      to: { path: '^(libs|apps|test)/', pathNot: '^libs/$1/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'no framework and no I/O in libs/rules; ipaddr.js parses addresses',
      severity: 'error',
      from: { path: '^libs/rules/', pathNot: '\\.(spec|testing)\\.ts$' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: ['node_modules/ipaddr\\.js', '^net$'] },
    },
    {
      name: 'libs-import-the-base-layer-only',
      severity: 'error',
      from: { path: '^libs/(entities|secrets|guards|drivers|jobs|logs|mail|metrics|client)/' },
      to: { path: '^(libs|apps|test)/', pathNot: ['^libs/$1/', '^libs/(rules|config)/'] },
    },
    {
      name: 'libs-without-framework',
      comment: 'guards and connections are Nest modules; everything else is wired by the apps',
      severity: 'error',
      from: { path: '^libs/', pathNot: '^libs/(guards|connections)/' },
      to: { path: 'node_modules/@nestjs/' },
    },
    {
      name: 'engine-store-imports-entities-only',
      comment: 'what the engine reads and writes; it knows no tenant query',
      severity: 'error',
      from: { path: '^libs/engine-store/' },
      to: { path: '^(libs|apps|test)/', pathNot: ['^libs/engine-store/', '^libs/(rules|config|entities)/'] },
    },
    {
      name: 'tenant-store-uses-the-engine-port',
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
      name: 'credentials-are-below-the-engine',
      comment: 'what a driver needs of a credential: its decrypted fields, and tokens about it',
      severity: 'error',
      from: { path: '^libs/credentials/' },
      to: {
        path: '^(libs|apps|test)/',
        pathNot: ['^libs/credentials/', '^libs/(rules|config|entities|secrets|drivers)/'],
      },
    },
    {
      name: 'engine-without-tenant-store',
      severity: 'error',
      from: { path: '^libs/engine/' },
      to: {
        path: '^(libs|apps|test)/',
        pathNot: [
          '^libs/engine/',
          '^libs/(rules|config|entities|engine-store|drivers|secrets|credentials|jobs)/',
        ],
      },
    },
    {
      name: 'connections-are-for-apps',
      comment: 'the top of the libraries: it connects them, and none of them needs it',
      severity: 'error',
      from: { path: '^libs/', pathNot: '^libs/connections/' },
      to: { path: '^libs/connections/' },
    },
    {
      name: 'api-uses-the-engine-port',
      comment: 'agents settle what they report through the engine; every other feature sees the port alone',
      severity: 'error',
      from: { path: '^apps/api/', pathNot: '^apps/api/src/agents/' },
      to: { path: '^libs/(engine|engine-store)/', pathNot: '^libs/engine-store/src/port\\.ts$' },
    },
    {
      name: 'libs-by-index-only',
      comment: 'test/hostile reaches every parser, also those that a library keeps to itself',
      severity: 'error',
      from: { path: '^(apps|libs|test)/([^/]+)/', pathNot: '^test/hostile/' },
      to: {
        path: '^libs/([^/]+)/src/',
        pathNot: [
          '^libs/[^/]+/src/index\\.ts$',
          '^libs/engine-store/src/port\\.ts$',
          '^libs/client/src/(schema\\.d|choices)\\.ts$',
          '^libs/$2/',
        ],
      },
    },
    {
      name: 'providers-are-independent',
      comment: 'the registry alone knows the providers; tenant-url serves those that tenants name by a URL',
      severity: 'error',
      from: { path: '^libs/drivers/(?:src/)?([^/]+)', pathNot: '^libs/drivers/src/registry\\.ts$' },
      to: {
        path: '^libs/drivers/src/[^/]+/',
        pathNot: ['^libs/drivers/src/$1/', '^libs/drivers/src/tenant-url/'],
      },
    },
    {
      name: 'apps-are-independent',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^(apps|test)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'agent-dependencies',
      comment: 'it runs on hosts of others: rules and the environment, an address parser, Node.js',
      severity: 'error',
      from: { path: '^apps/agent/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs|node_modules)/', pathNot: ['^libs/(rules|config)/', '^node_modules/ipaddr\\.js'] },
    },
    {
      name: 'cli-dependencies',
      comment: 'it runs on machines of others, and starts in no time: the client, and what the bundle needs',
      severity: 'error',
      from: { path: '^apps/cli/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(libs|node_modules)/',
        pathNot: [
          '^libs/client/',
          '^node_modules/(commander|@modelcontextprotocol/sdk|qrcode-generator|@types)/',
        ],
      },
    },
    {
      name: 'action-dependencies',
      comment: 'it runs on machines of others: the client, and the toolkit of the CI system',
      severity: 'error',
      from: { path: '^apps/action/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(libs|node_modules)/',
        pathNot: ['^libs/client/', '^node_modules/(@actions/core|@types)/'],
      },
    },
    {
      name: 'console-uses-the-public-api-alone',
      comment:
        'it knows the API by its document: the types and choices made of it, and packages for a browser',
      severity: 'error',
      from: { path: '^apps/console/src/' },
      to: {
        path: '^(libs|apps|test|node_modules)/',
        pathNot: [
          '^apps/console/',
          '^libs/client/src/(schema\\.d|choices)\\.ts$',
          '^node_modules/(react|react-dom|@tanstack|openapi-fetch|openapi-react-query|@types/react|@types/react-dom)/',
        ],
      },
    },
    {
      name: 'console-screens-are-independent',
      comment: 'screens use the API, the components and the frame; those for a sign-in serve others, too',
      severity: 'error',
      from: { path: '^apps/console/src/screens/([^/]+)/' },
      to: { path: '^apps/console/src/screens/', pathNot: '^apps/console/src/screens/($1|sign-in)/' },
    },
    {
      name: 'console-components-know-no-screen',
      severity: 'error',
      from: { path: '^apps/console/src/(api|ui|layout|parts)/' },
      to: { path: '^apps/console/src/screens/' },
    },
    only('react', '(react|react-dom|@tanstack)', 'apps/console/'),
    only('openapi-fetch', 'openapi-fetch', 'libs/client/', 'apps/console/src/api/'),
    only('commander', 'commander', 'apps/cli/', 'apps/worker/src/admin/'),
    only('actions-core', '@actions/core', 'apps/action/'),
    only('mcp-sdk', '@modelcontextprotocol/sdk', 'apps/cli/src/mcp/'),
    only('typeorm', 'typeorm', 'libs/entities/'),
    only('bullmq', 'bullmq', 'libs/jobs/', 'apps/worker/src/convergence/'),
    only('aws-sdk', '@aws-sdk', 'libs/drivers/src/aws/', 'apps/simulator/.*\\.spec\\.ts'),
    only('azure-sdk', '@azure', 'libs/drivers/src/azure/', 'apps/simulator/.*\\.spec\\.ts'),
    only('google-sdk', '@google-cloud', 'libs/drivers/src/gcp/'),
    only('bcrypt', 'bcrypt', 'libs/secrets/'),
    only('prom-client', 'prom-client', 'libs/metrics/'),
    only('pg', 'pg', 'libs/entities/', 'libs/jobs/', 'apps/launcher/'),
    only('ioredis', 'ioredis', 'libs/jobs/'),
    // it verifies what libs/drivers signs: the two must share no code
    only('jose', 'jose', 'apps/api/src/oidc/', 'apps/simulator/src/web-identity/'),
    only('stripe', 'stripe', 'apps/api/src/billing/stripe/'),
    only('nodemailer', 'nodemailer', 'libs/mail/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(apps/action/)?dist/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@drawbridge/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
