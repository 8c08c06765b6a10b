import { randomUUID } from 'node:crypto';
import type { Schemas } from '#client';
import type { Answer } from '../../harness/product/api-client';
import type { Product } from '../../harness/product/drawbridge';
import type { StaticIpRule } from '../resources/static-ip-rules';
import { REGISTERED } from '../sso/identity-providers';
import { colleague, type Colleague } from './colleague';
import { group, organization, sshTo, type Organization } from './organization';

/** A random choice that a seed repeats. */
export type Pick = <T>(of: readonly T[]) => T;

export function pickFrom(seed: number): Pick {
  let state = seed;
  return (of) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return of[Math.floor((state / 2 ** 32) * of.length)]!;
  };
}

/** What an act may change, read without asking for a plan. */
export interface WorldState {
  /** ids of live sessions, with their owners, and whether a program has them */
  readonly sessions: ReadonlyMap<string, { readonly owner: string; readonly isJob: boolean }>;
  /** rules that the organization holds, by target and key */
  readonly rules: ReadonlySet<string>;
  readonly staticRules: ReadonlySet<string>;
  /** `<user id> <resource id>` */
  readonly rights: ReadonlySet<string>;
  /** rights by which a live session is open: `<session id>` by right */
  readonly openBy: readonly (readonly [right: string, sessionId: string])[];
}

const TENANT_TABLES = [
  'users',
  'roles',
  'role_users',
  'role_resources',
  'role_selectors',
  'resources',
  'sessions',
  'resource_ips',
  'static_ip_rules',
  'lockdowns',
  'api_keys',
  'access_requests',
  'identity_providers',
  'group_mappings',
  'audit_records',
  'unwritten_audit_records',
  'rule_events',
];

/** A small organization with people, roles by id and by label, sessions that share rules, and static IP rules. */
export class TrialWorld {
  private constructor(
    readonly org: Organization,
    private readonly drawbridge: Product,
    readonly people: readonly Colleague[],
    readonly roleIds: readonly string[],
    readonly staticRuleIds: readonly string[],
    readonly providerId: string,
  ) {}

  static async of(drawbridge: Product, pick: Pick): Promise<TrialWorld> {
    const org = await organization(drawbridge, sshTo(5));
    const { admin, resourceIds } = org;
    const made = async (path: string, body: object): Promise<string> => (await admin.created(path, body)).id;
    // no session uses the last one, so that it can be deleted
    const ofRoles = resourceIds.slice(0, -1);
    const people = [await colleague(org, []), await colleague(org, []), await colleague(org, [])];
    const some = <T>(of: readonly T[]): T[] => of.filter(() => pick([true, false]));
    const labelled = some(ofRoles).concat(ofRoles[0]!);
    await admin.posted('/resources/labels', { resourceIds: labelled, set: { env: 'prod' } });
    const roleIds: string[] = [];
    for (const resourceSelector of [null, null, { env: ['prod'] }]) {
      const reached = resourceSelector ? [] : some(ofRoles);
      const members = { resourceIds: reached, userIds: some(people.map(({ id }) => id)) };
      roleIds.push(await made('/roles', { name: randomUUID(), resourceSelector, ...members }));
    }
    const groups = { groupsClaim: 'groups', groupPattern: 'drawbridge-*' };
    const providerId = await made('/identity-providers', { ...REGISTERED, ...groups });
    const given = 'UPDATE role_users SET given_by_provider_id = $1 WHERE role_id = $2';
    await drawbridge.query(given, [providerId, pick(roleIds)]);
    const service = { name: 'pipeline', isService: true, roleIds: [pick(roleIds)] };
    const apiKey = await org.plainKey(['sessions:write'], { userId: await made('/users', service) });
    const clients = [...people.map(({ client }) => client), drawbridge.api.as({ apiKey }), admin];
    const addresses = ['203.0.113.71', '203.0.113.72', '203.0.113.73'];
    // one without a right opens nothing
    for (const client of clients) await client.post('/sessions', { ipv4Address: pick(addresses) });
    const staticRuleIds: string[] = [];
    for (const ipAddress of addresses.slice(1)) {
      const opened = [...new Set(some(resourceIds).concat(pick(resourceIds)))];
      const rule = { label: `at ${ipAddress}`, ipAddress, resourceIds: opened };
      staticRuleIds.push(await made('/static-ip-rules', rule));
    }
    return new TrialWorld(org, drawbridge, people, roleIds, staticRuleIds, providerId);
  }

  /** Acts in a random order, and then in a lockdown. */
  *acts(pick: Pick): Generator<readonly [method: string, path: string, body?: object]> {
    const { people, roleIds, staticRuleIds, providerId } = this;
    const { resourceIds } = this.org;
    const user = (): string => pick(people).id;
    const role = (): string => `/roles/${pick(roleIds)}`;
    const resource = (): string => `/resources/${pick(resourceIds)}`;
    const some = (): string[] => [pick(resourceIds)];
    const address = (): string => pick(['203.0.113.71', '203.0.113.79']);
    const many = (): object => ({
      userIds: [user(), user(), pick([this.org.adminId, randomUUID()])],
      action: pick(['DEACTIVATE', 'ACTIVATE', 'LOCK_DOWN', 'DELETE']),
      reason: 'INC-3',
    });
    const groups = (): object => ({
      groupPattern: pick(['other-*', 'another-*']),
      patternMemberships: pick(['KEEP', 'REMOVE', 'REMOVE']),
    });
    const kinds: readonly (() => readonly [string, string, object?])[] = [
      () => ['PATCH', role(), { resourceIds: some(), userIds: [user()] }],
      () => ['PATCH', role(), { resourceSelector: pick([null, { env: ['prod'] }, { env: ['test'] }]) }],
      () => ['POST', `${role()}/members`, { addUserIds: [user(), randomUUID()], removeResourceIds: some() }],
      () => ['DELETE', pick([role(), `/roles/${randomUUID()}`])],
      () => ['PATCH', resource(), { labels: { env: pick(['prod', 'test']) } }],
      () => ['PATCH', resource(), { isActive: pick([true, false]) }],
      () => ['PATCH', resource(), { config: { port: pick([22, 443]) } }],
      () => ['PATCH', resource(), { resourceIdentifier: group(pick([0, 1, 7])) }],
      () => ['DELETE', resource()],
      () => ['PATCH', `/users/${user()}`, { isActive: pick([true, false]) }],
      () => ['POST', `/users/${pick([user(), this.org.adminId])}/lockdown`, { reason: 'INC-1' }],
      () => ['DELETE', `/users/${pick([user(), this.org.adminId])}`],
      () => ['POST', '/users/bulk', many()],
      () => ['POST', '/static-ip-rules', { label: 'more', ipAddress: address(), resourceIds: some() }],
      () => ['PATCH', `/static-ip-rules/${pick(staticRuleIds)}`, { resourceIds: some() }],
      () => ['PATCH', `/identity-providers/${providerId}`, groups()],
    ];
    for (let index = 0; index < 12; index += 1) yield pick(kinds)();
    yield ['POST', '/organization/lockdown', { reason: 'INC-2', staticRules: pick([true, false]) }];
    // refused after some of it is done
    yield ['PATCH', `/static-ip-rules/${pick(staticRuleIds)}`, { resourceIds: some() }];
  }

  async state(): Promise<WorldState> {
    const { admin, organizationId } = this.org;
    const found = <T extends object>(statement: string): Promise<T[]> =>
      this.drawbridge.query<T>(statement, [organizationId]);
    const live = `s.organization_id = $1 AND s.status IN ('PENDING', 'ACTIVE', 'PARTIAL')`;
    const sessions = await found<{ id: string; owner: string; isJob: boolean }>(
      `SELECT s.id, s.user_id AS owner, u.is_service AS "isJob" FROM sessions s JOIN users u ON u.id = s.user_id
       WHERE ${live}`,
    );
    const rules = await found<{ place: string }>(
      `SELECT DISTINCT r.target_id || ' ' || r.key AS place FROM rules r JOIN rule_holders h ON h.rule_id = r.id
       JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE h.released_at IS NULL AND ip.organization_id = $1`,
    );
    const openBy = await found<{ right: string; id: string }>(
      `SELECT s.user_id || ' ' || ip.resource_id AS right, s.id FROM sessions s JOIN resource_ips ip ON ip.session_id = s.id
       WHERE ${live}`,
    );
    const open = await admin.read<StaticIpRule[]>('/static-ip-rules?size=100');
    const users = await admin.read<{ id: string }[]>('/users?size=100&isActive=true');
    const rights = await Promise.all(
      users.map(async ({ id }) => {
        const ofUser = await admin.read<Schemas['ResourceRightDto'][]>(`/users/${id}/resources?size=100`);
        return ofUser.filter(({ isActive }) => isActive).map(({ resourceId }) => `${id} ${resourceId}`);
      }),
    );
    return {
      sessions: new Map(sessions.map((session) => [session.id, session])),
      rules: new Set(rules.map(({ place }) => place)),
      staticRules: new Set(open.filter(({ status }) => status !== 'CLOSED').map(({ id }) => id)),
      rights: new Set(rights.flat()),
      openBy: openBy.map(({ right, id }) => [right, id] as const),
    };
  }

  /** Every stored row of the organization, and of rules and targets. */
  async rows(): Promise<unknown> {
    const hashes = TENANT_TABLES.map(
      (table) =>
        `SELECT '${table}' AS name, count(*)::int AS rows, md5(string_agg(t::text, ',' ORDER BY t::text)) AS hash FROM ${table} t WHERE organization_id = $1`,
    );
    const shared = ['rules', 'rule_holders', 'targets'].map(
      (table) =>
        `SELECT '${table}', count(*)::int, md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${table} t`,
    );
    return this.drawbridge.query([...hashes, ...shared].join(' UNION ALL '), [this.org.organizationId]);
  }

  send<T>([method, path, body]: readonly [string, string, object?], query = ''): Promise<Answer<T>> {
    return this.org.admin.send<T>(method, `${path}${query}`, body);
  }
}
