import { randomBytes } from 'node:crypto';
import { loadSettings, SettingsError } from '#config';
import { ApiSettings } from './api.settings';

const complete = {
  DATABASE_URL: 'postgres://127.0.0.1/drawbridge',
  JWT_SECRET: randomBytes(24).toString('hex'),
  MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
  SMTP_URL: 'smtp://mail.example.com:587',
  MAIL_FROM: 'door@example.com',
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
  it('needs five variables and no more', () => {
    expect(loadSettings(ApiSettings, complete)).toMatchObject({
      PORT: 3000,
      RATE_LIMIT_PER_MINUTE: 60,
      ACCESS_TOKEN_TTL: 900,
      REFRESH_TOKEN_TTL: 604_800,
      SESSION_DEFAULT_HOURS: 1,
      ALLOW_PRIVATE_ADDRESSES: true,
      EMBEDDED: false,
      DEPLOYMENT_ID: 'default',
      CORS_ORIGINS: [],
    });
    expect(problemsOf({})).toHaveLength(4);
  });

  it('needs a mail server only where nobody reads mail in the log', () => {
    const { SMTP_URL: _, ...mailless } = complete;
    expect(problemsOf(mailless)).toEqual([expect.stringContaining('SMTP_URL')]);
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
    ['MASTER_KEYS', 'canary-key-material'],
    ['PORT', '65536'],
    ['PUBLIC_URL', 'example.com'],
    ['SMTP_URL', 'mail.example.com'],
    ['ACCESS_TOKEN_TTL', '15m'],
    ['TRUSTED_PROXIES', 'true'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TENANT_URL_NETWORKS', 'localhost'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['DEPLOYMENT_ID', 'Default'],
    ['EMBEDDED', 'maybe'],
    ['PAYMENT', 'cash'],
    ['PAID_PLAN_PRICE_CENTS', '9.90'],
    ['PAID_PLAN_CURRENCY', 'euro'],
    ['PAID_PLAN_INTERVAL', 'WEEK'],
    ['STRIPE_API_URL', 'stripe'],
    ['LOG_LEVEL', 'loud'],
  ])('refuses %s=%s in a line that names the variable, not the value', (name, value) => {
    const problems = problemsOf({ ...complete, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(name);
    expect(problems[0]).not.toContain(value);
  });

  it('with Stripe needs its three variables, each refused in a line of its own', () => {
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

  it('reads lists', () => {
    const settings = loadSettings(ApiSettings, {
      ...complete,
      TRUSTED_PROXIES: '192.0.2.1, 2001:db8::/32',
      CORS_ORIGINS: 'https://app.example.com,http://localhost:5173',
    });
    expect(settings.TRUSTED_PROXIES).toEqual(['192.0.2.1', '2001:db8::/32']);
    expect(settings.CORS_ORIGINS).toEqual(['https://app.example.com', 'http://localhost:5173']);
  });
});
