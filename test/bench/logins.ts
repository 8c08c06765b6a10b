import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { organization } from '../builders/accounts/organization';
import type { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, quantile, type Figure } from './figure';

const LOGINS = 16;
const REQUESTS = 1000;
const INTERVAL_MS = 10;
const ROUNDS = 5;
const REFUSALS = 15;
const WARM_UP = 4000;
const MAX_RATIO = 1.5;
/** Without a comparison it would be a fiftieth. */
const AS_LONG = { atLeast: 0.5, atMost: 2 };

/** as shipped; tests use a lower one */
const PASSWORD_HASH_COST = '12';

/**
 * GET /sessions 100 times a second: alone, while 16 people sign in over and over, and while a process that has nothing to do
 * with the product keeps as many cores busy as hashing does, which is what the machine makes of any such work.
 */
export async function logins(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    api: { NODE_ENV: 'production', PASSWORD_HASH_COST },
  });
  try {
    const { api } = drawbridge;
    const org = await organization(drawbridge, []);
    const key = await org.apiKey(['sessions:read']);
    const accounts = Array.from({ length: LOGINS }, () => ({
      organizationName: 'Example',
      email: `${randomUUID()}@example.com`,
      password: randomUUID(),
    }));
    for (const account of accounts) await api.created('/auth/register', account);
    for (let sent = 0; sent < WARM_UP; sent += 1) await key.expect(200, key.get('/sessions'));
    for (const { email, password } of accounts) {
      await api.posted('/auth/login', { email, password });
    }
    const rounds: { quiet: number; busy: number; beside: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const quiet = await p99(key);
      const signingIn = signIns(api, accounts);
      const busy = await p99(key);
      await signingIn.stop();
      const other = keepCoreBusy();
      const beside = await p99(key);
      other.stop();
      rounds.push({ quiet, busy, beside });
    }
    return [
      ...(await failedLogins(drawbridge, accounts[0]!.email)),
      figure(
        'GET /sessions p99, quiet',
        'ms',
        rounds.map(({ quiet }) => quiet),
      ),
      figure(
        'GET /sessions p99, 16 logins at once',
        'ms',
        rounds.map(({ busy }) => busy),
      ),
      figure(
        'GET /sessions p99, a core busy with something else',
        'ms',
        rounds.map(({ beside }) => beside),
      ),
      figure(
        '16 logins, times quiet',
        '',
        rounds.map(({ quiet, busy }) => busy / quiet),
        { atMost: MAX_RATIO },
      ),
      figure(
        '16 logins, times that beside a busy core',
        '',
        rounds.map(({ beside, busy }) => busy / beside),
      ),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** How long a refusal takes reveals neither whether an address has an account, nor how many. */
async function failedLogins(drawbridge: Drawbridge, known: string): Promise<Figure[]> {
  const { api } = drawbridge;
  const several = `${randomUUID()}@example.com`;
  const password = randomUUID();
  for (let made = 0; made < 12; made += 1)
    await api.created('/auth/register', { organizationName: 'Example', email: several, password });
  const refused = async (status: number, email: string): Promise<number> => {
    const at = performance.now();
    await api.expect(status, api.post('/auth/login', { email, password: 'wrong' }));
    const ms = performance.now() - at;
    await drawbridge.query('DELETE FROM sign_in_failures');
    return ms;
  };
  const ratios: { one: number; twelve: number }[] = [];
  for (let round = 0; round < REFUSALS; round += 1) {
    const unknown = await refused(401, `${randomUUID()}@example.com`);
    ratios.push({
      one: (await refused(401, known)) / unknown,
      twelve: (await refused(400, several)) / unknown,
    });
  }
  return [
    figure(
      'wrong password, times an unknown e-mail',
      '',
      ratios.map(({ one }) => one),
      AS_LONG,
    ),
    figure(
      'wrong password of twelve accounts, times an unknown e-mail',
      '',
      ratios.map(({ twelve }) => twelve),
      { atMost: 4 },
    ),
  ];
}

/** Requests at a fixed rate, so that a slow one delays no other. */
async function p99(client: ApiClient): Promise<number> {
  const sent: Promise<number>[] = [];
  const began = performance.now();
  for (let index = 0; index < REQUESTS; index += 1) {
    const wait = began + index * INTERVAL_MS - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
    const at = performance.now();
    sent.push(client.expect(200, client.get('/sessions')).then(() => performance.now() - at));
  }
  return quantile(await Promise.all(sent), 0.99);
}

/** A process that uses one core until it is stopped. */
function keepCoreBusy(): { stop(): void } {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  return { stop: () => child.kill('SIGKILL') };
}

function signIns(
  api: ApiClient,
  accounts: readonly { email: string; password: string }[],
): { stop(): Promise<unknown> } {
  const stopping = new AbortController();
  const person = async ({ email, password }: { email: string; password: string }): Promise<void> => {
    while (!stopping.signal.aborted) await api.posted('/auth/login', { email, password });
  };
  const people = Promise.all(accounts.map(person));
  return {
    stop: () => {
      stopping.abort();
      return people;
    },
  };
}
