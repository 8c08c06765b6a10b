import { randomBytes } from 'node:crypto';
import { loadSettings, SettingsError } from '#config';
import { ApiSettings } from './api.settings';

const complete = {
  DATABASE_URL: 'postgres://127.0.0.1/drawbridge',
  JWT_SECRET: randomBytes(24).toString('hex'),
  MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
  SMTP_URL: 'smtp://mail.example.com:587',
  MAIL_FROM: 'door@example.com',
  PAYMENT: 'sandbox',
};

const problemsOf = (environment: NodeJS.ProcessEnv): string[] => {
  try {
    loadSettings(ApiSettings, environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

describe('the API’s environment', () => {
  it('requires only six variables', () => {
    expect(loadSettings(ApiSettings, complete)).toMatchObject({
      PORT: 3000,
      RATE_LIMIT_PER_MINUTE: 60,
      ACCESS_TOKEN_TTL: 900,
      REFRESH_TOKEN_TTL: 604_800,
      SESSION_DEFAULT_HOURS: 1,
      MAX_LIVE_SESSIONS_PER_USER: 50,
      MAX_LIVE_SESSIONS_PER_SERVICE_USER: 500,
      ALLOW_PRIVATE_ADDRESSES: true,
      EMBEDDED: false,
      CORS_ORIGINS: [],
    });
    expect(problemsOf({})).toHaveLength(5);
  });

  it('requires PAYMENT unless embedded', () => {
    const { PAYMENT: _, ...unsaid } = complete;
    expect(problemsOf(unsaid)).toEqual([
      expect.stringMatching(/^PAYMENT must be none .*, stripe, or sandbox/),
    ]);
    expect(problemsOf({ ...unsaid, EMBEDDED: 'true' })).toEqual([]);
    expect(problemsOf({ ...unsaid, EMBEDDED: 'true', STRIPE_SECRET_KEY: 'sk_x' })).toEqual([
      expect.stringContaining('PAYMENT must be none'),
    ]);
  });

  it.each(['0'.repeat(64), 'ab'.repeat(20), 'my-jwt-secret-that-is-not-random-at-all-0815'])(
    'refuses the weak JWT_SECRET %s and explains how to generate one',
    (JWT_SECRET) => {
      expect(problemsOf({ ...complete, JWT_SECRET })).toEqual([
        expect.stringMatching(/^JWT_SECRET must be a random text .*openssl rand -hex 32/),
      ]);
    },
  );

  it('refuses a master key of repeated characters', () => {
    const MASTER_KEYS = `1:${Buffer.alloc(32, 'ab').toString('base64')}`;
    expect(problemsOf({ ...complete, MASTER_KEYS })).toEqual([
      expect.stringMatching(/^MASTER_KEYS holds a key that is not random \(version 1\)/),
    ]);
  });

  it('keeps metrics on loopback unless METRICS_HOST says otherwise', () => {
    expect(loadSettings(ApiSettings, complete).METRICS_HOST).toBe('127.0.0.1');
    expect(loadSettings(ApiSettings, { ...complete, METRICS_HOST: '::' }).METRICS_HOST).toBe('::');
  });

  it('has its console at the root of a host only', () => {
    const PUBLIC_URL = 'https://example.com/drawbridge';
    expect(problemsOf({ ...complete, PUBLIC_URL })).toEqual([
      expect.stringMatching(/^PUBLIC_URL must have no path.*CONSOLE=off/),
    ]);
    expect(problemsOf({ ...complete, PUBLIC_URL, CONSOLE: 'off' })).toEqual([]);
    expect(problemsOf({ ...complete, PUBLIC_URL: 'https://example.com/' })).toEqual([]);
  });

  it('requires a mail server where anybody may register, unless embedded', () => {
    const { SMTP_URL: _, ...mailless } = complete;
    expect(problemsOf(mailless)).toEqual([expect.stringMatching(/SMTP_URL.*MAIL_FROM.*REGISTRATION=first/)]);
    for (const REGISTRATION of ['first', 'closed'])
      expect(problemsOf({ ...mailless, REGISTRATION })).toEqual([]);
    expect(problemsOf({ ...mailless, EMBEDDED: 'true' })).toEqual([]);
    expect(problemsOf({ ...mailless, EMBEDDED: 'true', SMTP_URL: 'mail.example.com' })).toHaveLength(1);
    const { MAIL_FROM: _from, ...senderless } = complete;
    expect(problemsOf(senderless)).toEqual([expect.stringContaining('MAIL_FROM')]);
  });

  it.each([
    ['DATABASE_URL', 'mysql://127.0.0.1/drawbridge'],
    ['REDIS_URL', '127.0.0.1:6379'],
    ['REDIS_URL', 'redis://127.0.0.1:6379/queue'],
    ['DRAIN_SECONDS', '6'],
    ['JWT_SECRET', 'x'.repeat(31)],
    ['JWT_PREVIOUS_SECRETS', `${'x'.repeat(32)},${'x'.repeat(31)}`],
    ['JWT_PREVIOUS_SECRETS', Array.from({ length: 6 }, () => 'x'.repeat(32)).join()],
    ['SIGN_IN_MAX_DAYS', '4000'],
    ['SIGN_IN_MAX_DAYS', '1.5'],
    ['MASTER_KEYS', 'canary-key-material'],
    ['PORT', '65536'],
    ['HOST', 'localhost:80'],
    ['METRICS_HOST', '*'],
    ['PUBLIC_URL', 'example.com'],
    ['SMTP_URL', 'mail.example.com'],
    ['MAIL_FROM', 'door'],
    ['NODE_EXTRA_CA_CERTS', '/nowhere.pem'],
    ['REDIS_URL', 'redis://:p#w@127.0.0.1:6379'],
    ['REDIS_URL', 'redis://127.0.0.1:99999'],
    ['SMTP_REQUIRE_TLS', 'maybe'],
    ['ACCESS_TOKEN_TTL', '15m'],
    ['TRUSTED_PROXIES', 'true'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TENANT_URL_NETWORKS', 'localhost'],
    ['OIDC_ISSUERS', 'gitlab.example.org'],
    ['OIDC_ISSUERS', 'http://gitlab.example.com'],
    ['OIDC_ISSUERS', 'JENKINS=https://jenkins.example.com'],
    ['OIDC_ISSUERS', 'https://gitlab.example.org?a=b'],
    ['OIDC_ISSUERS', 'https://user@gitlab.example.com'],
    ['OIDC_ISSUERS', 'http://localhost.example.com'],
    ['OIDC_ISSUERS', 'https://gitlab.example.com,http://10.0.0.1'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['DEPLOYMENT_ID', 'Default'],
    ['EMBEDDED', 'maybe'],
    ['PAYMENT', 'cash'],
    ['REGISTRATION', 'maybe'],
    ['PAID_PLAN_PRICE_CENTS', '9.90'],
    ['PAID_PLAN_CURRENCY', 'euro'],
    ['PAID_PLAN_INTERVAL', 'WEEK'],
    ['STRIPE_API_URL', 'stripe'],
    ['LOG_LEVEL', 'loud'],
  ])('refuses %s=%s with a message that contains the variable but not the value', (name, value) => {
    const problems = problemsOf({ ...complete, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(name);
    expect(problems[0]).not.toContain(value);
  });

  it.each(['0.0.0.0/0,::/0', '10.0.0.0/7', '127.0.0.1,fc00::/7'])(
    'refuses TRUSTED_PROXIES=%s as too wide and explains what to configure',
    (value) => {
      expect(problemsOf({ ...complete, TRUSTED_PROXIES: value })).toEqual([
        expect.stringMatching(
          /^TRUSTED_PROXIES .*wider than \/8 \(IPv4\) or \/16 \(IPv6\).*your reverse proxies/,
        ),
      ]);
    },
  );

  it('requires three variables with Stripe and reports each missing one', () => {
    const problems = problemsOf({ ...complete, PAYMENT: 'stripe', STRIPE_SECRET_KEY: 'sk_test_example' });
    expect(problems).toEqual([
      expect.stringContaining('STRIPE_WEBHOOK_SECRET'),
      expect.stringContaining('STRIPE_PRICE_ID'),
    ]);
    expect(problemsOf({ ...complete, PAYMENT: 'stripe' })).toHaveLength(3);
    const stripe = {
      STRIPE_SECRET_KEY: 'sk_test_example',
      STRIPE_WEBHOOK_SECRET: 'whsec_example',
      STRIPE_PRICE_ID: 'price_example',
    };
    expect(problemsOf({ ...complete, PAYMENT: 'stripe', ...stripe })).toEqual([]);
    expect(problemsOf({ ...complete, ...stripe })).toEqual([expect.stringContaining('PAYMENT')]);
  });

  it('allows GitHub and gitlab.com as issuers by default, and http on loopback only', () => {
    expect(loadSettings(ApiSettings, complete).OIDC_ISSUERS).toEqual([
      'https://token.actions.githubusercontent.com',
      'https://gitlab.com',
    ]);
    const OIDC_ISSUERS =
      'GITLAB=https://gitlab.example.com:8443/path/, http://127.0.0.1:4000, http://[::1]:4000';
    expect(problemsOf({ ...complete, OIDC_ISSUERS })).toEqual([]);
  });
});
