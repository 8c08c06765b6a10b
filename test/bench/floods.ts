import { once } from 'node:events';
import { organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';
import { besides, forked, Tenant, type Kind, type Times } from './tenant-times';

const CONNECTIONS = [200, 800];
const WARM_UP = 60;
const SESSIONS = 32;
const MAX_RATIO = 3;

interface Refusals {
  /** under the API's address */
  readonly path: string;
  readonly status: number;
  /** with the limits as shipped these are refused with 429 after the first ones */
  readonly isLimited: boolean;
}

const FLOODS: Readonly<Record<string, Refusals>> = {
  '429': { path: '/api/v1/nothing', status: 429, isLimited: true },
  '404': { path: '/api/v1/nothing', status: 404, isLimited: false },
  '401': { path: '/api/v1/roles', status: 401, isLimited: false },
  discovery: { path: '/.well-known/drawbridge', status: 200, isLimited: false },
};
/** FLOOD=429 floods with these only */
const CHOSEN = process.env['FLOOD']?.split(',') ?? Object.keys(FLOODS);

const SHIPPED = { NODE_ENV: 'production', PASSWORD_HASH_COST: '12' };
const UNLIMITED = { ...SHIPPED, RATE_LIMIT_PER_MINUTE: '1000000' };

/**
 * Requests of one tenant beside connections of one address without an account that are refused, or told where the API is, as
 * fast as they can ask. And, as a control, beside the same connections to another program of this machine, which answers at once
 * with the same status: what these cost is not the product's.
 */
export async function floods(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false, api: SHIPPED });
  try {
    const org = await organization(drawbridge);
    const figures: Figure[] = [];
    for (const isLimited of [true, false]) {
      const { port } = await drawbridge.startApi(isLimited ? SHIPPED : UNLIMITED, 'nobody');
      const base = `http://127.0.0.1:${port}`;
      const tenant = await Tenant.of(org, `${base}/api/v1`);
      await tenant.times(WARM_UP);
      for (const [name, refusals] of Object.entries(FLOODS))
        if (refusals.isLimited === isLimited && CHOSEN.includes(name))
          for (const connections of CONNECTIONS)
            figures.push(...(await measure({ tenant, base, name, connections, ...refusals })));
    }
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

interface Measured extends Refusals {
  readonly tenant: Tenant;
  readonly base: string;
  readonly name: string;
  readonly connections: number;
}

async function measure({ tenant, base, name, connections, path, status }: Measured): Promise<Figure[]> {
  const flood = { apiKey: 'none', connections, pauseMs: 0 };
  const other = forked('answers-at-once.cjs', [String(status)]);
  const [port] = (await once(other, 'message')) as [number];
  const control = await besides(tenant, { ...flood, url: `http://127.0.0.1:${port}` }, SESSIONS);
  other.disconnect();
  await once(other, 'exit');
  const product = await besides(tenant, { ...flood, url: `${base}${path}` }, SESSIONS);
  const label = `beside ${connections} connections that get ${name}, times quiet`;
  return (['get', 'start', 'stop', 'signIn'] as const).flatMap((kind) => [
    figure(`${kind} ${label}`, '', [ratio(product, kind)], { atMost: MAX_RATIO }),
    figure(`${kind} ${label}, from another program`, '', [ratio(control, kind)]),
  ]);
}

const ratio = ({ beside, quiet }: { readonly beside: Times; readonly quiet: Times }, kind: Kind): number =>
  beside[kind] / quiet[kind];
