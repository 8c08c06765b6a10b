import { type Colleague, colleague } from '../builders/accounts/colleague';
import { organization, sshTo } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';
import { SCALE, scaled, type Side } from './history-scale';
import { seedCrowd, seedLists, vacuum } from './history-seeds';

const SEED = { count: scaled(1_000_000), rare: 4 };
const ROUNDS = SCALE < 1 ? 5 : 12;
/** with fewer rows, every page is like the first */
const MANY = 1000;
const MAX_PAGE_MS = 500;
/** of lists of objects, whatever is searched */
const MAX_OBJECTS_MS = 50;
const CROWD = { people: scaled(10_000), allPeople: scaled(200_000), resources: scaled(2000) };
const SIZE = 20;

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

const found = (label: string, path: string, asked: Record<string, string>): Listed =>
  list(label, path, () => asked);

/** Of the organization with a crowd. */
const OBJECTS: readonly Listed[] = [
  found('people, by name', '/users', { sort: 'name' }),
  found('people, part of a name', '/users', { search: 'a1b' }),
  found('people, part of an e-mail (one)', '/users', { search: 'person-77@' }),
  found('people, none fits', '/users', { search: 'nobody at all' }),
  found('people, by last sign-in', '/users', { sort: '-lastLoginAt', mfaEnabled: 'false' }),
  found('resources, part of a name', '/resources', { search: 'database 19' }),
  found('resources, by label', '/resources', { label: 'team=t3', sort: '-lastVerifiedAt' }),
  found('roles, by resources', '/roles', { sort: '-resourceCount', withMembers: 'false' }),
  found('credentials, part of a name', '/credentials', { search: 'sim' }),
  found('static IP rules, none fits', '/static-ip-rules', { search: 'nobody' }),
  found('API keys, none fits', '/api-keys', { search: 'nobody', state: 'VALID' }),
  found('what needs attention', '/attention', {}),
];

/** The first and the last page of every list, with a million sessions and three million audit records. */
export async function lists(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false });
  try {
    const side = await seeded(drawbridge);
    const figures: Figure[] = [];
    const groups = { sessions: SESSIONS, audit_records: AUDIT, others: OTHERS };
    for (const [name, listed] of Object.entries(groups))
      for (const one of listed) figures.push(...(await pages(`${name}, ${one.label}`, one, side)));
    figures.push(...(await objects(side)));
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

/** The first page of lists of objects, each searched or sorted. */
async function objects(side: ListSide): Promise<Figure[]> {
  await seedCrowd(side, CROWD);
  await vacuum(side.drawbridge);
  const [resource] = await side.drawbridge.query<{ id: string }>(
    `SELECT id FROM resources WHERE organization_id = $1 AND labels @> '{"team": "t3"}' LIMIT 1`,
    [side.org.organizationId],
  );
  const rights = list('people who may open a resource', `/resources/${resource!.id}/people`);
  const figures: Figure[] = [];
  for (const listed of [...OBJECTS, rights]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push((await timed(side, listed, 0)).ms);
    figures.push(figure(`objects, ${listed.label}`, 'ms', times, { atMost: MAX_OBJECTS_MS }));
  }
  return figures;
}

async function seeded(drawbridge: Drawbridge): Promise<ListSide> {
  const org = await organization(drawbridge, sshTo(2));
  const side = { drawbridge, org, rare: await colleague(org) };
  await seedLists(side, { ...SEED, rareUserId: side.rare.id });
  await vacuum(drawbridge);
  const [oldest] = await drawbridge.query<{ id: string }>(
    `SELECT id FROM sessions WHERE status = 'FAILED' ORDER BY created_at LIMIT 1`,
  );
  return { ...side, rareSessionId: oldest!.id };
}

async function pages(label: string, listed: Listed, side: ListSide): Promise<Figure[]> {
  const { total } = await timed(side, listed, 0);
  const measure = async (name: string, page: number): Promise<Figure> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push((await timed(side, listed, page)).ms);
    return figure(name, 'ms', times, { atMost: MAX_PAGE_MS });
  };
  const first = await measure(`${label}, first page of ${total} rows`, 0);
  if (total <= MANY) return [first];
  return [first, await measure('  last page', Math.ceil(total / SIZE) - 1)];
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
