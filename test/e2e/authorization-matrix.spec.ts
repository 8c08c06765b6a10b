import { randomUUID } from 'node:crypto';
import type { Type } from '@nestjs/common';
import type { RoutePolicy } from '#guards';
import { RESOURCE_MODULES } from '../../apps/api/src/app.module';
import { routesOf, type Route } from '../../apps/api/src/docs/route-table';
import { API_PREFIX } from '../../apps/api/src/errors';
import { everyCaller, MATRIX_HOST, type Caller } from '../builders/contract/matrix-callers';
import { MatrixObjects, objectsIn, pathWith, type Owner } from '../builders/contract/matrix-objects';
import { verdictOf, type Verdict } from '../builders/contract/matrix-verdicts';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const AT_ONCE = 8;
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi;
const TIMESTAMP = /"timestamp":"[^"]+"/;

/** Names no object. */
const NOWHERE = randomUUID();

/** Bodies that pass validation, so that the request reaches the authorization check. */
const BODIES: Readonly<Record<string, object>> = {
  Sessions_extend: { additionalHours: 1 },
  OidcTrusts_explain: { idToken: 'no token' },
  Sessions_bulk: { sessionIds: [NOWHERE], action: 'STOP' },
  Users_bulk: { userIds: [NOWHERE], action: 'ACTIVATE' },
  Roles_members: { addUserIds: [NOWHERE] },
  Resources_verifyMany: { resourceIds: [NOWHERE] },
  Resources_labelMany: { resourceIds: [NOWHERE], remove: ['env'] },
  Agents_report: { agent: MATRIX_HOST, version: 'x', results: [] },
};
const QUERIES: Readonly<Record<string, string>> = { Agents_state: `?agent=${MATRIX_HOST}` };
/** Operations on what somebody asked for: never by that person, whatever the rights. */
const OF_ANOTHER: ReadonlySet<string> = new Set([
  'AccessRequests_approve',
  'AccessRequests_deny',
  'AccessRequests_review',
]);
/** What a locked-down user may do besides reading. */
const BY_LOCKED_DOWN: ReadonlySet<string> = new Set(
  `AccessRequests_cancel AccessRequests_deny AccessRequests_withdraw Agents_report Mfa_confirm Mfa_disable Mfa_regenerate Mfa_setUp
    Passwords_change Sessions_bulk Sessions_stop Sessions_stopByAdmin SignIns_end`.split(/\s+/),
);
/** Operations on one host: a key that is bound to another is refused. */
const OF_A_HOST: ReadonlySet<string> = new Set(['Agents_state', 'Agents_report']);

/** Whom routes are for, besides those that are for signed-in administrators alone. `free`: keys on the Free plan, too. */
const FOR_OTHERS: Readonly<Record<string, string>> = {
  public: `Auth_login Auth_logout Auth_refresh Auth_register Auth_verifyMfa Health_detect Health_health Health_ready
    OidcExchange_exchange Passwords_accept Passwords_changeExpired Passwords_forgot Passwords_link Passwords_reset PaymentWebhook_receive
    SsoSignIn_callback SsoSignIn_complete SsoSignIn_providers SsoSignIn_start`,
  'signed-in': `AccessRequests_approve AccessRequests_deny AccessRequests_withdraw Auth_me Mfa_confirm Mfa_disable Mfa_regenerate Mfa_setUp
    OwnNotices_find OwnNotices_update Passwords_change SignIns_end SignIns_list StepUp_stepUp`,
  'signed-in audit:read': 'AuditLogs_list SessionEvents_list',
  'signed-in resources:read': 'ResourceTypes_list Resources_find Resources_list',
  'signed-in sessions:read free': 'AccessRequests_find AccessRequests_list Sessions_list',
  'signed-in sessions:read free session': 'Sessions_find',
  'signed-in sessions:write': 'AccessRequests_create Sessions_extend Sessions_plan Sessions_start',
  'signed-in sessions:write free': 'AccessRequests_cancel',
  'signed-in sessions:write free session': 'Sessions_renew Sessions_stop',
  'admin audit:read':
    'AuditLogs_export Reports_access ResourceEvents_list Resources_guard Resources_rules Rights_people',
  'key agent:connect': 'Agents_report Agents_state',
  platform: 'Platform_find Platform_list Platform_overdueRules',
  'platform write': 'Platform_delete Platform_reactivate Platform_suspend',
};

/** A policy, as `FOR_OTHERS` names it. */
function audienceOf(policy: RoutePolicy): string {
  const { scope = null, onFreePlan, sessionToken, write } = { ...policy } as Record<string, unknown>;
  const words = [policy.kind, scope, onFreePlan && 'free', sessionToken && 'session', write && 'write'];
  return words.filter(Boolean).join(' ');
}

const controllersOf = (module: Type): Type[] =>
  (Reflect.getMetadata('controllers', module) as Type[] | undefined) ?? [];

// browser pages have no authentication: their URLs contain tokens
const routes = RESOURCE_MODULES.flatMap(controllersOf)
  .flatMap(routesOf)
  .filter(({ path }) => path.startsWith(API_PREFIX));

type Whose = 'own' | 'foreign' | 'missing';

/** One request: route, caller and owner of the object. */
interface Cell {
  readonly route: Route;
  readonly caller: Caller;
  readonly whose: Whose;
  /** the parameter that is not the caller's own */
  readonly parameter: string | null;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
}

const nameOf = ({ route, caller, whose, parameter }: Cell): string =>
  `${route.method} ${route.path} as ${caller.name}${parameter ? `, ${parameter} ${whose}` : ''}`;

/** Platform routes access every organization: no object is foreign to them. */
const seesAll = (route: Route): boolean => route.path.includes('/platform/');

function cellsOf(route: Route, caller: Caller): Cell[] {
  const own: Cell = { route, caller, whose: 'own', parameter: null };
  const others = objectsIn(route.path).flatMap(({ parameter }) => [
    ...(seesAll(route) ? [] : [{ route, caller, whose: 'foreign' as const, parameter }]),
    { route, caller, whose: 'missing' as const, parameter },
  ]);
  return [own, ...others];
}

/** The authorization verdict of an outcome; nothing else is compared. */
function verdictIn({ status, text }: Outcome): Verdict | 'broken' {
  if (status >= 500) return 'broken';
  if (status === 401) return '401';
  if (status === 403) return text.includes('does not have required scope') ? 'scope' : '403';
  return 'let in';
}

describe('The authorization matrix', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let objects: MatrixObjects;
  let callers: readonly Caller[];
  let home: Owner;
  let foreign: Owner;
  const outcomes = new Map<string, Outcome>();

  beforeAll(async () => {
    objects = new MatrixObjects(drawbridge);
    const all = await everyCaller(drawbridge);
    callers = all.callers;
    home = { organizationId: all.home.organizationId, userId: all.home.adminId };
    foreign = { organizationId: all.foreign.organizationId, userId: all.foreign.adminId };
    const owners = new Map(
      [home, foreign, ...callers.flatMap(ownerOf)].map((owner) => [owner.organizationId, owner]),
    );
    for (const owner of owners.values()) await objects.prepare(owner);
    const cells = routes.flatMap((route) => callers.flatMap((caller) => cellsOf(route, caller)));
    await inParallel(cells, async (cell) => {
      outcomes.set(nameOf(cell), await play(cell));
    });
    const size = `${outcomes.size} cells, ${routes.length} routes, ${callers.length} callers`;
    process.stderr.write(`\nAuthorization matrix: ${size}\n`);
  });

  const ownerOf = ({ user }: Caller): Owner[] =>
    user ? [{ organizationId: user.organizationId, userId: user.id }] : [];

  const kept = new Map<string, Promise<string>>();

  /** An object that a request may change or delete is not shared; one that is only read, or refused, is. */
  function objectFor({ route, caller, whose }: Cell, collection: string, owner: Owner): Promise<string> {
    const letIn = verdictOf(route.policy!, caller) === 'let in';
    if (letIn && route.method !== 'GET' && whose === 'own') return objects.make(collection, owner);
    const key = `${collection} of ${owner.organizationId} ${owner.userId}`;
    const known = kept.get(key) ?? objects.make(collection, owner);
    kept.set(key, known);
    return known;
  }

  async function idsOf(cell: Cell): Promise<Record<string, string>> {
    const [own = home] = ownerOf(cell.caller);
    const strange = own.organizationId === foreign.organizationId ? home : foreign;
    const ids: Record<string, string> = {};
    for (const { parameter, collection } of objectsIn(cell.route.path)) {
      const asked = parameter === cell.parameter ? cell.whose : 'own';
      ids[parameter] =
        asked === 'missing' || collection === undefined
          ? randomUUID()
          : await objectFor(cell, collection, asked === 'foreign' ? strange : own);
    }
    return ids;
  }

  /** A session's token ends with it, so each request has another session: the one in its path, if it is the caller's. */
  async function headersOf({ route, caller, whose }: Cell, ids: Record<string, string>): Promise<object> {
    const [owner] = ownerOf(caller);
    if (!caller.isSession || !owner) return caller.headers;
    const isOwn = whose === 'own' && objectsIn(route.path)[0]?.collection === 'sessions';
    const id = isOwn ? ids['id']! : await objects.make('sessions', owner);
    return { Authorization: `Session ${await objects.sessionToken(id)}` };
  }

  async function play(cell: Cell): Promise<Outcome> {
    const { route } = cell;
    const ids = await idsOf(cell);
    const path = `${pathWith(route.path, ids)}${QUERIES[route.operationId] ?? ''}`;
    const body = BODIES[route.operationId];
    const headers = {
      ...(await headersOf(cell, ids)),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    };
    // the cells of one key are sent side by side, and too many at once is no verdict
    return until('the caller has a turn', async () => {
      const response = await fetch(`http://127.0.0.1:${drawbridge.apiServer.port}${path}`, {
        method: route.method,
        redirect: 'manual',
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return !text.includes('Too many requests at once') && { status: response.status, text };
    });
  }

  const outcomeOf = (cell: Cell): Outcome => outcomes.get(nameOf(cell))!;

  const everyCell = (): Cell[] =>
    routes.flatMap((route) => callers.flatMap((caller) => cellsOf(route, caller)));

  it('every route has a policy, and every object in its path is listed in this test', () => {
    expect(routes.filter(({ policy }) => !policy).map(({ operationId }) => operationId)).toEqual([]);
    const unknown = routes.flatMap(({ path }) =>
      objectsIn(path)
        .filter(({ collection }) => collection === undefined)
        .map(({ parameter }) => `${path}: ${parameter}`),
    );
    expect(unknown).toEqual([]);
  });

  it('every route that administrators do not have to themselves is listed in this test', () => {
    const found: Record<string, string[]> = {};
    for (const { operationId, policy } of routes) (found[audienceOf(policy!)] ??= []).push(operationId);
    delete found['admin'];
    const listed = Object.entries(FOR_OTHERS).map(([audience, ids]) => [audience, ids.split(/\s+/)]);
    const sorted = Object.entries(found).map(([audience, ids]) => [audience, ids.toSorted()]);
    expect(Object.fromEntries(sorted)).toEqual(Object.fromEntries(listed));
  });

  it('every route is answered according to its policy, for every caller and object', () => {
    const unexpected = everyCell().flatMap((cell) => {
      const outcome = outcomeOf(cell);
      const right = verdictOf(cell.route.policy!, cell.caller);
      const { route } = cell;
      const held =
        cell.caller.isLockedDown &&
        route.policy!.kind !== 'public' &&
        route.method !== 'GET' &&
        !BY_LOCKED_DOWN.has(route.operationId);
      const stopped = held || (cell.caller.user?.suspended && !route.allowedWhileSuspended);
      const { agent = MATRIX_HOST } = cell.caller.key ?? {};
      const elsewhere = agent !== MATRIX_HOST && OF_A_HOST.has(cell.route.operationId);
      const another = cell.caller.isSession && cell.whose !== 'own';
      const ofOneself = cell.whose === 'own' && OF_ANOTHER.has(cell.route.operationId);
      const expected = right === 'let in' && (stopped || elsewhere || another || ofOneself) ? '403' : right;
      const found = verdictIn(outcome);
      // whether the object or the suspension is checked first reveals nothing, as long as all objects get the same answer
      const absent = stopped && cell.whose !== 'own' && outcome.status === 404;
      if (found === expected || absent) return [];
      return [`${nameOf(cell)}: ${expected}, not ${found} (${outcome.status} ${outcome.text})`];
    });
    expect(unexpected).toEqual([]);
  });

  it('nobody has approved, denied or reviewed an own request', async () => {
    const asked = everyCell().filter(
      ({ route, whose }) => whose === 'own' && OF_ANOTHER.has(route.operationId),
    );
    expect(asked).toHaveLength(OF_ANOTHER.size * callers.length);
    expect(new Set(asked.map((cell) => outcomeOf(cell).status))).toEqual(new Set([401, 403]));
    const decided = await drawbridge.query(
      `SELECT 1 FROM access_request_decisions d JOIN access_requests a ON a.id = d.request_id AND a.requester_id = d.user_id
       UNION ALL SELECT 1 FROM access_requests WHERE status = 'APPROVED'`,
    );
    expect(decided).toEqual([]);
  });

  it('a caller can read its own objects', () => {
    const hidden = everyCell().filter(
      (cell) =>
        cell.route.method === 'GET' &&
        cell.whose === 'own' &&
        objectsIn(cell.route.path).length > 0 &&
        verdictOf(cell.route.policy!, cell.caller) === 'let in' &&
        cell.caller.user &&
        outcomeOf(cell).status >= 400,
    );
    expect(
      hidden.map((cell) => `${nameOf(cell)}: ${outcomeOf(cell).status} ${outcomeOf(cell).text}`),
    ).toEqual([]);
  });

  it('another organization’s object is answered like a missing one', () => {
    const wording = ({ status, text }: Outcome): string =>
      `${status} ${text.replaceAll(UUID, '<id>').replace(TIMESTAMP, '<timestamp>')}`;
    const betrayed = everyCell().flatMap((cell) => {
      if (cell.whose !== 'foreign') return [];
      const strange = wording(outcomeOf(cell));
      const absent = wording(outcomeOf({ ...cell, whose: 'missing' }));
      return strange === absent ? [] : [`${nameOf(cell)}: ${strange}\n  when it is missing: ${absent}`];
    });
    expect(betrayed).toEqual([]);
  });

  it('an allowed caller gets neither another organization’s nor a missing object', () => {
    const given = everyCell().filter(
      (cell) =>
        cell.whose !== 'own' &&
        verdictIn(outcomeOf(cell)) === 'let in' &&
        ![400, 404].includes(outcomeOf(cell).status),
    );
    expect(given.map((cell) => `${nameOf(cell)}: ${outcomeOf(cell).status} ${outcomeOf(cell).text}`)).toEqual(
      [],
    );
  });
});

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
