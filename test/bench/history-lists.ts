import { type Colleague, colleague } from '../builders/colleague';
import { group, organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import type { BenchPostgres } from './bench-postgres';
import { figure, quantile, type Figure } from './figure';
import { MAX_RATIO, SCALE, scaled, type Side } from './history-scale';
import { seedLists, vacuum } from './history-seeds';

const SMALL = { count: 8, rare: 4 };
const LARGE = { count: scaled(1_000_000), rare: 4 };
const ROUNDS = SCALE < 1 ? 25 : 60;
/** quantile: other load on the machine lengthens the slower half of the requests */
const UNDISTURBED = 0.1;
/** as many as every filter matches on the small side */
const SIZE = 4;

interface ListSide extends Side {
  readonly rare: Colleague;
  readonly rareSessionId: string;
}

/** A list of the API with a filter. */
interface Listed {
  readonly label: string;
  readonly path: (side: ListSide) => string;
  /** of the user without admin rights who owns the rare sessions; otherwise the admin's */
  readonly isOfUser: boolean;
}

const list = (
  label: string,
  path: string,
  filter: (side: ListSide) => Record<string, string> = () => ({}),
  isOfUser = false,
): Listed => ({
  label,
  isOfUser,
  path: (side: ListSide) => `${path}?${new URLSearchParams({ ...filter(side), size: String(SIZE) })}`,
});

/** before all seeded rows, and between the oldest and the others */
const LONG_AGO = '2000-01-01T00:00:00Z';
const SOON = '2100-01-01T00:00:00Z';

const SESSIONS: readonly Listed[] = [
  list('own sessions', '/sessions'),
  list('own, status=EXPIRED', '/sessions', () => ({ status: 'EXPIRED' })),
  list('own, status=FAILED (none)', '/sessions', () => ({ status: 'FAILED' })),
  list('all sessions', '/sessions/admin'),
  list('status=ACTIVE (none)', '/sessions/admin', () => ({ status: 'ACTIVE' })),
  list('active=false', '/sessions/admin', () => ({ active: 'false' })),
  list('status=EXPIRED', '/sessions/admin', () => ({ status: 'EXPIRED' })),
  list('status=FAILED (rare)', '/sessions/admin', () => ({ status: 'FAILED' })),
  list('userId', '/sessions/admin', ({ org }) => ({ userId: org.adminId })),
  list('userId (rare)', '/sessions/admin', ({ rare }) => ({ userId: rare.id })),
  list('resourceId', '/sessions/admin', ({ org }) => ({ resourceId: org.resourceIds[0]! })),
  list('resourceId (rare)', '/sessions/admin', ({ org }) => ({ resourceId: org.resourceIds[1]! })),
  list('resourceId and status', '/sessions/admin', ({ org }) => ({
    resourceId: org.resourceIds[0]!,
    status: 'EXPIRED',
  })),
  list('from and to around all', '/sessions/admin', () => ({ from: LONG_AGO, to: SOON })),
  list('from (none)', '/sessions/admin', () => ({ from: SOON })),
  list('to (none)', '/sessions/admin', () => ({ to: LONG_AGO })),
];

const AUDIT: readonly Listed[] = [
  list('all records', '/audit-logs'),
  list('eventType', '/audit-logs', () => ({ eventType: 'SESSION_STARTED' })),
  list('eventType (rare)', '/audit-logs', () => ({ eventType: 'SESSION_FAILED' })),
  list('actorEmail (rare)', '/audit-logs', ({ rare }) => ({ actorEmail: rare.email })),
  list('of a user without admin rights (rare)', '/audit-logs', () => ({}), true),
  list('resourceId', '/audit-logs', ({ rareSessionId }) => ({ resourceId: rareSessionId })),
  list('from and to around all', '/audit-logs', () => ({ from: LONG_AGO, to: SOON })),
  list('from (none)', '/audit-logs', () => ({ from: SOON })),
  list('to (none)', '/audit-logs', () => ({ to: LONG_AGO })),
];

const OTHERS: readonly Listed[] = [
  list('health events', '/resource-health/events'),
  ...['users', 'roles', 'credentials', 'static-ip-rules', 'api-keys', 'resources'].map((name) =>
    list(name, `/${name}`),
  ),
];

/** Every list with a million sessions and three million audit records, compared to eight sessions. */
export async function lists(_postgres: BenchPostgres): Promise<Figure[]> {
  const sides: ListSide[] = [];
  try {
    const small = await startSide(sides, SMALL);
    const large = await startSide(sides, LARGE);
    const figures: Figure[] = [];
    const groups = { sessions: SESSIONS, audit: AUDIT, others: OTHERS };
    for (const [name, listed] of Object.entries(groups))
      for (const one of listed) figures.push(...(await compare(`${name}, ${one.label}`, one, small, large)));
    return figures;
  } finally {
    for (const { drawbridge } of sides) await drawbridge.stop();
  }
}

async function startSide(sides: ListSide[], seed: { count: number; rare: number }): Promise<ListSide> {
  const drawbridge = await Drawbridge.start({ worker: false });
  const org = await organization(
    drawbridge,
    [0, 1].map((index) => ({ group: group(index), config: { port: 22 } })),
  );
  const side = { drawbridge, org, rare: await colleague(org) };
  await seedLists(side, { ...seed, rareUserId: side.rare.id });
  await vacuum(drawbridge);
  const [oldest] = await drawbridge.query<{ id: string }>(
    `SELECT id FROM sessions WHERE status = 'FAILED' ORDER BY created_at LIMIT 1`,
  );
  sides.push({ ...side, rareSessionId: oldest!.id });
  return sides.at(-1)!;
}

/** First and last page of one list, each request in turn on both sides. */
async function compare(label: string, listed: Listed, small: ListSide, large: ListSide): Promise<Figure[]> {
  const [, { ms: cold, total }] = [await timed(small, listed, 0), await timed(large, listed, 0)];
  const lastOf = (count: number): number => Math.max(0, Math.ceil(count / SIZE) - 1);
  const lastOfSmall = lastOf((await timed(small, listed, 0)).total);
  const pages = [
    { name: 'first page', small: 0, large: 0 },
    ...(total > 1000
      ? [
          { name: 'middle page', small: lastOfSmall, large: Math.floor(lastOf(total) / 2) },
          { name: 'last page', small: lastOfSmall, large: lastOf(total) },
        ]
      : []),
  ];
  const figures: Figure[] = [];
  for (const page of pages) {
    const times: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      times[0].push((await timed(small, listed, page.small)).ms);
      times[1].push((await timed(large, listed, page.large)).ms);
    }
    const [without, withHistory] = times.map((samples) => quantile(samples, UNDISTURBED)) as [number, number];
    const shown = `${without.toFixed(2)} -> ${withHistory.toFixed(2)} ms`;
    figures.push(
      figure(`${label}, ${page.name} (${shown}): times`, '', [withHistory / without], { atMost: MAX_RATIO }),
    );
  }
  if (total > 1000) figures.push(figure(`  its very first request, ${total} rows`, 'ms', [cold]));
  return figures;
}

async function timed(side: ListSide, listed: Listed, page: number): Promise<{ ms: number; total: number }> {
  const began = performance.now();
  const client = listed.isOfUser ? side.rare.client : side.org.admin;
  const answer = await client.get<object>(`${listed.path(side)}&page=${page}`);
  const ms = performance.now() - began;
  if (answer.status !== 200) throw new Error(`${listed.label}: ${answer.status}`);
  const inBody = 'totalElements' in answer.body ? answer.body.totalElements : null;
  return { ms, total: Number(inBody ?? answer.headers.get('X-Total-Count')) };
}
