import { randomUUID } from 'node:crypto';
import { guardedHost } from '../builders/resources/agents';
import { organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, quantile, type Figure } from './figure';
import { besides, stranger, Tenant } from './tenant-times';

const CONNECTIONS = [200, 800];
/** Of each hostile connection: enough to keep all of them busy, and not this machine's two cores. */
const PAUSE_MS = 2000;
const WARM_UP = 100;
const SESSIONS = 100;
const MAX_RATIO = 1.5;

const SIGN_INS = 10;
const ABANDONED = 40;
const ABANDONED_AFTER_MS = 300;
/** as shipped, for one address */
const SIGN_INS_PER_ADDRESS = 20;
const MAX_SIGN_IN_RATIO = 2;

/**
 * With the limits as shipped: requests of one tenant beside connections of another one that all ask for the state of one host;
 * and a sign-in behind others that were abandoned.
 */
export async function hostile(): Promise<Figure[]> {
  const api = { NODE_ENV: 'production', PASSWORD_HASH_COST: '12' };
  const drawbridge = await Drawbridge.start({ worker: false, api });
  try {
    const org = await organization(drawbridge);
    const host = await guardedHost(await organization(drawbridge, []), 'gateway');
    await host.agent().turn();
    const { port } = await drawbridge.startApi(api, 'nobody');
    const base = `http://127.0.0.1:${port}/api/v1`;
    const tenant = await Tenant.of(org, base);
    await tenant.times(WARM_UP);
    const figures: Figure[] = [];
    for (const connections of CONNECTIONS) {
      const flood = {
        url: `${base}/agents/state?agent=gateway`,
        apiKey: host.plainKey,
        connections,
        pauseMs: PAUSE_MS,
      };
      const { quiet, beside } = await besides(tenant, flood, SESSIONS);
      for (const kind of ['get', 'start', 'stop'] as const)
        figures.push(
          figure(
            `${kind} beside ${connections} hostile connections, times quiet`,
            '',
            [beside[kind] / quiet[kind]],
            { atMost: MAX_RATIO },
          ),
        );
    }
    return [...figures, ...(await behindAbandoned(tenant))];
  } finally {
    await drawbridge.stop();
  }
}

async function behindAbandoned(tenant: Tenant): Promise<Figure[]> {
  const quiet: number[] = [];
  const behind: number[] = [];
  for (let round = 0; round < SIGN_INS; round += 1) {
    quiet.push(await tenant.signIn());
    await abandonSignIns(tenant);
    behind.push(await tenant.signIn());
  }
  const ratio = quantile(behind, 0.5) / quantile(quiet, 0.5);
  return [
    figure('sign-in, quiet', 'ms', quiet),
    figure(`sign-in behind ${ABANDONED} abandoned ones`, 'ms', behind),
    figure(`sign-in behind ${ABANDONED} abandoned ones, times quiet`, '', [ratio], {
      atMost: MAX_SIGN_IN_RATIO,
    }),
  ];
}

async function abandonSignIns(tenant: Tenant): Promise<void> {
  const gone = AbortSignal.timeout(ABANDONED_AFTER_MS);
  let from = '';
  const sent = Array.from({ length: ABANDONED }, (_, index) => {
    if (index % SIGN_INS_PER_ADDRESS === 0) from = stranger();
    const guess = { email: `${randomUUID()}@example.com`, password: 'wrong' };
    return tenant.send('POST', '/auth/login', { from, body: guess, signal: gone });
  });
  await Promise.allSettled(sent);
}
