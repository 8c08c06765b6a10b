import { DriverRegistry } from '#drivers';

/** The processes that `npm start` runs. */
export type ProcessName = 'api' | 'worker' | 'simulator' | 'migrate';

const SERVICE = [
  'DATABASE_URL',
  'DEPLOYMENT_ID',
  'DRAWBRIDGE_AWS_IDENTITY',
  'EGRESS_PROXY',
  'LOG_LEVEL',
  'MAIL_FROM',
  'MASTER_KEYS',
  'METRICS_HOST',
  'METRICS_PORT',
  'NODE_EXTRA_CA_CERTS',
  'OIDC_ISSUER_URL',
  'PUBLIC_URL',
  'REDIS_URL',
  'SMTP_REQUIRE_TLS',
  'SMTP_URL',
];

/** The variables each process reads. A test compares them with the settings classes and with docker-compose.yml. */
export const PROCESS_VARIABLES: Readonly<Record<ProcessName, readonly string[]>> = {
  api: [
    ...SERVICE,
    ...DriverRegistry.variables,
    'ACCESS_TOKEN_TTL',
    'ALLOW_LOCAL_ADDRESSES',
    'ALLOW_PRIVATE_ADDRESSES',
    'CONSOLE',
    'CORS_ORIGINS',
    'DRAIN_SECONDS',
    'EMBEDDED',
    'HOST',
    'JWT_SECRET',
    'JWT_PREVIOUS_SECRETS',
    'OIDC_ISSUERS',
    'PAID_PLAN_CURRENCY',
    'PAID_PLAN_INTERVAL',
    'PAID_PLAN_PRICE_CENTS',
    'PASSWORD_HASH_COST',
    'PAYMENT',
    'PORT',
    'PUBLIC_URL_IPV4',
    'PUBLIC_URL_IPV6',
    'RATE_LIMIT_PER_MINUTE',
    'REFRESH_TOKEN_TTL',
    'REGISTRATION',
    'SIGN_IN_MAX_DAYS',
    'SESSION_DEFAULT_HOURS',
    'MAX_LIVE_SESSIONS_PER_USER',
    'MAX_LIVE_SESSIONS_PER_SERVICE_USER',
    'STATIC_IP_MIN_PREFIX_IPV4',
    'STATIC_IP_MIN_PREFIX_IPV6',
    'STATIC_IP_TOTAL_PREFIX_IPV4',
    'STATIC_IP_TOTAL_PREFIX_IPV6',
    'STRIPE_API_URL',
    'STRIPE_PRICE_ID',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRET',
    'TRUSTED_PROXIES',
  ],
  worker: [
    ...SERVICE,
    ...DriverRegistry.variables,
    'AUDIT_SIGNING_KEY_FILE',
    'HEALTH_EVENT_RETENTION_DAYS',
    'LEDGER_RETENTION_MONTHS',
    'RECONCILE_SECONDS',
    'SESSION_RETENTION_DAYS',
    'WORKER_CONCURRENCY',
  ],
  simulator: [
    'SIMULATOR_AZURE_SERVER_MS',
    'SIMULATOR_GCP_OPERATION_MS',
    'SIMULATOR_GROUPS',
    'SIMULATOR_HOST',
    'SIMULATOR_LATENCY_MS',
    'SIMULATOR_PORT',
    'SIMULATOR_READ_BURST',
    'SIMULATOR_READ_REFILL_PER_SECOND',
    'SIMULATOR_RULES_PER_GROUP',
    'SIMULATOR_STATE_FILE',
    'SIMULATOR_WRITE_BURST',
    'SIMULATOR_WRITE_REFILL_PER_SECOND',
  ],
  migrate: ['DATABASE_SERVICE_URL', 'DATABASE_URL', 'LEDGER_RETENTION_MONTHS', 'NODE_EXTRA_CA_CERTS'],
};

/** Variables that Node.js, PostgreSQL's client and the system read in every process. */
const SYSTEM =
  /^(PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|NODE_[A-Z_0-9]+|UV_[A-Z_]+|SSL_CERT_(FILE|DIR)|PGSSL[A-Z]+|https?_proxy|no_proxy|all_proxy)$/i;

/** The part of an environment that a process receives. */
export function environmentOf(name: ProcessName, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set(PROCESS_VARIABLES[name]);
  return Object.fromEntries(
    Object.entries(environment).filter(([variable]) => known.has(variable) || SYSTEM.test(variable)),
  );
}
