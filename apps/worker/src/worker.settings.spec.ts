import { randomBytes } from 'node:crypto';
import { loadSettings, SettingsError } from '#config';
import { WorkerSettings } from './worker.settings';

const complete = {
  DATABASE_URL: 'postgres://127.0.0.1/drawbridge',
  MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
};

const problemsOf = (environment: NodeJS.ProcessEnv): string[] => {
  try {
    loadSettings(WorkerSettings, environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

describe('the worker’s environment', () => {
  it('needs two variables and no more', () => {
    expect(problemsOf(complete)).toEqual([]);
    expect(problemsOf({})).toHaveLength(2);
  });

  it.each([
    ['REDIS_URL', '127.0.0.1:6379'],
    ['MASTER_KEYS', 'canary-key-material'],
    ['WORKER_CONCURRENCY', '501'],
    ['METRICS_PORT', 'metrics'],
    ['METRICS_HOST', 'localhost'],
    ['TENANT_URL_NETWORKS', '10.0.0.0/8:x'],
    ['LEDGER_RETENTION_MONTHS', '121'],
    ['HEALTH_EVENT_RETENTION_DAYS', '-1'],
    ['DEPLOYMENT_ID', 'Default'],
    ['LOG_LEVEL', 'loud'],
  ])('refuses %s=%s in a line that names the variable, not the value', (name, value) => {
    const problems = problemsOf({ ...complete, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(name);
    expect(problems[0]).not.toContain(value);
  });
});
