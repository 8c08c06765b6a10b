import { organization, sshTo } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { EC2_LIMITS, freshAddress } from './load';

const SESSIONS = 1000;
const CONNECTIONS = 50;
const TIMEOUT_MS = 60_000;
const MAX_WRITES = 40;
const MAX_SECONDS = 8;
/** outcome of the calls with which a verification asks for its permissions */
const DRY_RUN = 'DryRunOperation';

/** Starts and stops 1,000 sessions at once, 100 on each of ten groups: calls and time. */
export async function thousandSessions(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { ...EC2_LIMITS, SIMULATOR_RULES_PER_GROUP: String(SESSIONS) },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, sshTo(10));
    const key = await owner.apiKey(['sessions:write']);
    const ids: string[] = [];
    let turn = 0;
    const start = async (): Promise<void> => {
      const resourceIds = [owner.resourceIds[turn++ % owner.resourceIds.length]];
      const body = { ipv4Address: freshAddress(), resourceIds };
      ids.push((await key.posted<{ id: string }>('/sessions', body)).id);
    };
    const opened = await measured(drawbridge, 'ACTIVE', 'AuthorizeSecurityGroupIngress', start);
    const closed = await measured(drawbridge, 'CANCELLED', 'RevokeSecurityGroupIngress', () =>
      key.posted(`/sessions/${ids.pop()!}/stop`),
    );
    return [...figuresOf('start', 'ACTIVE', opened), ...figuresOf('stop', 'CANCELLED', closed)];
  } finally {
    await drawbridge.stop();
  }
}

interface Burst {
  readonly answered: number;
  /** seconds, from the first request until every session has the status */
  readonly settled: number;
  readonly writes: number;
}

const figuresOf = (action: string, status: string, { answered, settled, writes }: Burst): Figure[] => [
  figure(`1,000 sessions, ${action}: all answered`, 's', [answered]),
  figure(`1,000 sessions, ${action}: all ${status}`, 's', [settled], { atMost: MAX_SECONDS }),
  figure(`1,000 sessions, ${action}: cloud write calls`, '', [writes], { atMost: MAX_WRITES }),
];

async function measured(
  drawbridge: Drawbridge,
  status: string,
  operation: string,
  action: () => Promise<unknown>,
): Promise<Burst> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let left = SESSIONS;
  const connection = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await action();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const answered = seconds();
  await until(
    `every session is ${status}`,
    async () => {
      const [row] = await drawbridge.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM sessions WHERE status = $1',
        [status],
      );
      return row!.count === SESSIONS;
    },
    TIMEOUT_MS,
  );
  const settled = seconds();
  const calls = await drawbridge.cloud.calls();
  const writes = calls.filter((call) => call.operation === operation && call.outcome !== DRY_RUN);
  return { answered, settled, writes: writes.length };
}
