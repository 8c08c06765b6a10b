import { organization, sshTo } from '../builders/accounts/organization';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { freshAddress } from './load';
import { activeAfter } from './tenant';

const TARGETS = 200;
/** A shorter wait is stated as none. */
const LEAST_SECONDS = 3;
const LEAST_PERCENT = 90;

interface Stated {
  readonly id: string;
  readonly seconds: number;
  /** when, milliseconds since 1970 */
  readonly at: number;
}

/** Starts a session on each of 200 groups of one account at once: how far the stated waits are from the observed ones. */
export async function wait(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    // the product's own budget of the account is what counts: EC2's would refuse so many verifications before
    simulator: { SIMULATOR_GROUPS: String(TARGETS) },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, sshTo(TARGETS));
    await drawbridge.query('UPDATE targets SET reconcile_due_at = now()');
    await until('the account of every group is known', async () => {
      const [row] = await drawbridge.query('SELECT FROM targets WHERE account_key IS NULL LIMIT 1');
      return row === undefined;
    });
    await drawbridge.query('UPDATE write_budgets SET full_at = now()');
    const key = await owner.apiKey(['sessions:write', 'sessions:read']);
    const stated = await Promise.all(
      owner.resourceIds.map(async (resourceId): Promise<Stated> => {
        const body = { ipv4Address: freshAddress(), resourceIds: [resourceId] };
        const { id } = await key.posted<Session>('/sessions', body);
        const { body: session } = await key.get<Session & { opensInSeconds: number | null }>(
          `/sessions/${id}`,
        );
        return { id, seconds: session.opensInSeconds ?? 0, at: Date.now() };
      }),
    );
    const opened = await activeAfter(owner, new Map(stated.map(({ id, at }) => [id, at])));
    const pairs = stated.map(({ id, seconds }) => [seconds, opened.get(id)! / 1000] as const);
    const isNear = ([one, other]: readonly [number, number]): boolean => {
      const [a, b] = [Math.max(one, LEAST_SECONDS), Math.max(other, LEAST_SECONDS)];
      return a <= 2 * b && b <= 2 * a;
    };
    const near = (100 * pairs.filter(isNear).length) / TARGETS;
    return [
      figure(
        '200 starts on one account, stated wait',
        's',
        pairs.map(([seconds]) => seconds),
      ),
      figure(
        '200 starts on one account, observed wait',
        's',
        pairs.map(([, seconds]) => seconds),
      ),
      figure('stated within a factor of 2', '%', [near], { atLeast: LEAST_PERCENT }),
    ];
  } finally {
    await drawbridge.stop();
  }
}
