import { randomBytes, randomUUID } from 'node:crypto';
import { SCOPES, tokenKeyOf, WORKLOAD_SCOPES, WorkloadTokens, type Scope } from '#guards';
import type { Drawbridge } from '../../harness/product/drawbridge';
import type { ApiClient } from '../../harness/product/api-client';
import { guardedHost } from '../resources/agents';
import { organization, type Organization } from '../accounts/organization';

/** A caller of every route. */
export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** undefined: not authenticated */
  readonly user?: {
    readonly id: string;
    readonly organizationId: string;
    readonly isOrgAdmin: boolean;
    readonly platformRole: 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';
    readonly suspended: boolean;
  };
  /** presents the token of a session of its own, for each request another one */
  readonly isSession?: true;
  /** signed in with a password, in an organization that demands company sign-in */
  readonly lacksCompanySignIn?: true;
  /** as a user: changes nothing, but for what ends access, and the own credentials */
  readonly isLockedDown?: true;
  /** undefined: signed in without a key; a CI job has scopes as a key has */
  readonly key?: {
    readonly scopes: readonly Scope[];
    readonly tier: 'FREE' | 'PAID';
    /** the host that the key is bound to; undefined: none yet */
    readonly agent?: string;
  };
}

export type KnownUser = NonNullable<Caller['user']>;

/** A text that can be a session token. */
export const sessionTokenText = (): string => `dbs_${randomBytes(32).toString('base64url')}`;

const PASSWORD = 'a password of the matrix 7';

/** The host that requests of agents are about. */
export const MATRIX_HOST = 'matrix-host';

/** All callers, and the organization whose objects belong to none of them. */
export async function everyCaller(
  drawbridge: Drawbridge,
): Promise<{ callers: readonly Caller[]; home: Organization; foreign: Organization }> {
  const [home, foreign, suspended, free, company] = await Promise.all(
    [0, 1, 2, 3, 4].map(() => organization(drawbridge)),
  );
  const people = new People(drawbridge);
  const callers: Caller[] = [
    { name: 'nobody', headers: {} },
    bearer('a malformed token', 'not.a.token'),
    bearer('an empty token', ''),
    await people.admin(home!, 'an admin'),
    await people.user(home!, 'a user'),
    await people.admin(foreign!, 'an admin of another organization'),
    await people.user(home!, 'a SUPER_ADMIN', { platformRole: 'SUPER_ADMIN' }),
    await people.user(home!, 'a SUPPORT', { platformRole: 'SUPPORT' }),
    await people.deactivated(home!),
    ...(await people.keys(home!)),
    await people.serviceUser(home!),
    ...(await people.workloads(home!)),
    { ...(await people.user(home!, 'the token of a session')), headers: {}, isSession: true },
    bearer('a session token as a bearer token', sessionTokenText()),
    { name: 'an unknown session token', headers: { Authorization: `Session ${sessionTokenText()}` } },
    await people.agentKey(home!, MATRIX_HOST),
    await people.agentKey(home!, 'another-host'),
    ...(await people.lockedDown(home!)),
  ];
  await guardedHost(home!, MATRIX_HOST);
  callers.push(
    inSuspension(await people.admin(suspended!, 'an admin of a suspended organization')),
    inSuspension(await people.user(suspended!, 'a user of a suspended organization')),
  );
  callers.push(await people.keyOnFreePlan(free!));
  callers.push(...(await people.ofCompany(company!)));
  await suspended!.sets('suspended_at', new Date());
  return { callers, home: home!, foreign: foreign! };
}

const inSuspension = (caller: Caller): Caller => ({
  ...caller,
  user: { ...caller.user!, suspended: true },
});

const bearer = (name: string, token: string, user?: KnownUser): Caller => ({
  name,
  headers: { Authorization: `Bearer ${token}` },
  ...(user ? { user } : {}),
});

/** A plain user of an organization, unless something else is given. */
const memberOf = (
  { organizationId }: Organization,
  id: string,
  given: Partial<KnownUser> = {},
): KnownUser => ({
  id,
  organizationId,
  isOrgAdmin: false,
  platformRole: 'CUSTOMER',
  suspended: false,
  ...given,
});

const tokenOf = (client: ApiClient): string =>
  client.identity && 'token' in client.identity ? client.identity.token : '';

/** Creates users and keys of organizations with as few requests as possible. */
class People {
  constructor(private readonly drawbridge: Drawbridge) {}

  async admin(org: Organization, name: string): Promise<Caller> {
    return bearer(name, tokenOf(org.admin), memberOf(org, org.adminId, { isOrgAdmin: true }));
  }

  async user(org: Organization, name: string, given: Partial<KnownUser> = {}): Promise<Caller> {
    const email = `${randomUUID()}@example.com`;
    const register = { organizationName: 'Elsewhere', email, password: PASSWORD };
    const { api } = this.drawbridge;
    const made = await api.created<{ user: { id: string } }>('/auth/register', register);
    const user = memberOf(org, made.user.id, given);
    // a token contains its organization: the user is moved before signing in
    for (const table of ['refresh_tokens', 'known_devices']) {
      await this.drawbridge.query(`DELETE FROM ${table} WHERE user_id = $1`, [user.id]);
    }
    await this.drawbridge.query(
      'UPDATE users SET organization_id = $2, is_org_admin = $3, platform_role = $4 WHERE id = $1',
      [user.id, user.organizationId, user.isOrgAdmin, user.platformRole],
    );
    const login = await api.posted<{ accessToken: string }>('/auth/login', { email, password: PASSWORD });
    return bearer(name, login.accessToken, user);
  }

  /** A member, an approver and an administrator, and the administrator's key. */
  async lockedDown(org: Organization): Promise<Caller[]> {
    const approver = await this.user(org, 'a locked-down approver');
    const administrator = await this.user(org, 'a locked-down administrator', { isOrgAdmin: true });
    const { user } = administrator;
    const key = await this.key(org, SCOPES, user!.id);
    const callers = [
      await this.user(org, 'a locked-down member'),
      approver,
      administrator,
      keyCaller('a key of a locked-down administrator', key, user!, SCOPES),
    ];
    await this.drawbridge.query(
      `WITH approver AS (INSERT INTO role_users (organization_id, role_id, user_id) VALUES ($1, $2, $3))
       UPDATE roles SET approver_role_ids = ARRAY[id] WHERE id = $2`,
      [org.organizationId, org.roleId, approver.user!.id],
    );
    await this.drawbridge.query(
      `INSERT INTO lockdowns (organization_id, subject_id, declared_by, reason, administrator_ids)
       SELECT DISTINCT $1::uuid, id, $2::uuid, 'INC-12', ARRAY[$2::uuid] FROM unnest($3::uuid[]) AS id`,
      [org.organizationId, org.adminId, callers.map((caller) => caller.user!.id)],
    );
    return callers.map((caller) => ({ ...caller, isLockedDown: true }));
  }

  async deactivated(org: Organization): Promise<Caller> {
    const { headers, user } = await this.user(org, '');
    await this.drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [user!.id]);
    return { name: 'a deactivated user', headers };
  }

  async keys(org: Organization): Promise<Caller[]> {
    const admin = (await this.admin(org, '')).user!;
    const user = (await this.user(org, '')).user!;
    const made: Caller[] = [];
    for (const scope of SCOPES) {
      const text = await this.key(org, [scope], admin.id);
      const caller = keyCaller(`a key with ${scope}`, text, admin, [scope]);
      const headers = { Authorization: `ApiKey ${text}` };
      made.push(caller, { ...caller, name: `${caller.name} as Authorization`, headers });
    }
    // created with a permitted scope: others are refused at creation
    const all = await this.key(org, ['sessions:read'], user.id);
    await this.change(all, `scopes = '{${SCOPES.join(',')}}'`);
    made.push(keyCaller('a key of a plain user with every scope', all, user, SCOPES));
    const none = await this.key(org, ['sessions:read'], admin.id);
    await this.change(none, "scopes = '{}'");
    made.push(keyCaller('a key without scopes', none, admin, []));
    for (const [name, change] of [
      ['a revoked key', 'revoked_at = now()'],
      ['an expired key', 'expires_at = now()'],
    ] as const) {
      const text = await this.key(org, SCOPES, admin.id);
      await this.change(text, change);
      made.push({ name, headers: { 'X-API-Key': text } });
    }
    made.push({ name: 'a text that is no key', headers: { 'X-API-Key': 'dbk_nothing' } });
    return made;
  }

  /** A service user with a key of every scope: the rights of a plain user, without sign-in. */
  async serviceUser(org: Organization): Promise<Caller> {
    const asked = { isService: true, name: 'matrix', roleIds: [org.roleId] };
    const { id } = await org.admin.created('/users', asked);
    const user = memberOf(org, id);
    const text = await this.key(org, ['sessions:read'], id);
    await this.change(text, `scopes = '{${SCOPES.join(',')}}'`);
    return keyCaller('a key of a service user with every scope', text, user, SCOPES);
  }

  /** CI jobs of trusts: one with every scope, one without, and one whose trust is disabled. */
  async workloads(org: Organization): Promise<Caller[]> {
    const every = await this.workload(org, 'a CI job with every scope', WORKLOAD_SCOPES);
    const none = await this.workload(org, 'a CI job without scopes', []);
    const disabled = await this.workload(org, 'a CI job of a disabled trust', WORKLOAD_SCOPES);
    await this.drawbridge.query('UPDATE oidc_trusts SET is_enabled = false WHERE name = $1', [disabled.name]);
    return [every, none, { name: disabled.name, headers: disabled.headers }];
  }

  private async workload(org: Organization, name: string, scopes: readonly Scope[]): Promise<Caller> {
    const { admin, organizationId } = org;
    const conditions = { project_id: ['1'], ref_protected: ['true'] };
    const asked = { name, preset: 'GITLAB', conditions, scopes: WORKLOAD_SCOPES, roleIds: [org.roleId] };
    const { id: trustId, serviceUserId: userId } = await admin.created<{ id: string; serviceUserId: string }>(
      '/oidc-trusts',
      asked,
    );
    await this.drawbridge.query('UPDATE oidc_trusts SET scopes = $2 WHERE id = $1', [trustId, scopes]);
    const tokens = new WorkloadTokens({
      tokenKeys: [tokenKeyOf(this.drawbridge.jwtSecret)],
      accessTokenTtlSeconds: 900,
      hashApiKey: () => null,
      hashSessionToken: () => null,
      callerAddressOf: () => null,
    });
    const { accessToken } = await tokens.issue({ userId, organizationId, trustId, revision: 1 });
    return { ...bearer(name, accessToken, memberOf(org, userId)), key: { scopes, tier: 'PAID' } };
  }

  /** A key for agents that is bound to one host. */
  async agentKey(org: Organization, agent: string): Promise<Caller> {
    const admin = (await this.admin(org, '')).user!;
    const text = await this.key(org, ['agent:connect'], admin.id, { agents: [agent] });
    const caller = keyCaller(`an agent key bound to ${agent}`, text, admin, ['agent:connect']);
    return { ...caller, key: { ...caller.key!, agent } };
  }

  async keyOnFreePlan(org: Organization): Promise<Caller> {
    const admin = (await this.admin(org, '')).user!;
    const text = await this.key(org, SCOPES, admin.id);
    await org.sets('subscription_tier', 'FREE');
    const caller = keyCaller('a key on the Free plan', text, admin, SCOPES);
    return { ...caller, key: { scopes: SCOPES, tier: 'FREE' } };
  }

  /** Of an organization that demands company sign-in: one by password, one by its identity provider, and the exception. */
  async ofCompany(org: Organization): Promise<Caller[]> {
    const refused = await this.admin(org, 'an admin by password who needs company sign-in');
    const vouched = await this.user(org, 'a user by company sign-in');
    const recovery = await this.user(org, 'the recovery administrator by password', { isOrgAdmin: true });
    const [, payload] = vouched.headers['Authorization']!.split('.');
    const { sid } = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as { sid: string };
    await this.drawbridge.query(
      `WITH provider AS (
         INSERT INTO identity_providers (organization_id, name, issuer, client_id, sealed_data, created_by_email)
         VALUES ($1, 'Company', 'https://login.example.com', 'drawbridge', '{}', 'ada@example.com') RETURNING id
       ), identity AS (
         INSERT INTO user_identities (organization_id, provider_id, subject, user_id)
         SELECT $1, id, 'subject', $2 FROM provider RETURNING id
       )
       INSERT INTO sso_sign_ins (organization_id, family_id, identity_id, user_id) SELECT $1, $3, id, $2 FROM identity`,
      [org.organizationId, vouched.user!.id, sid],
    );
    await org.sets('recovery_administrator_id', recovery.user!.id);
    await org.sets('sso_required', true);
    return [{ ...refused, lacksCompanySignIn: true }, vouched, recovery];
  }

  private key = (
    org: Organization,
    scopes: readonly Scope[],
    userId: string,
    more: object = {},
  ): Promise<string> => org.plainKey(scopes, { name: randomUUID(), userId, ...more });

  private async change(text: string, assignment: string): Promise<void> {
    await this.drawbridge.query(
      `UPDATE api_keys SET ${assignment} WHERE key_hash = encode(sha256($1::text::bytea), 'hex')`,
      [text],
    );
  }
}

const keyCaller = (name: string, text: string, user: KnownUser, scopes: readonly Scope[]): Caller => ({
  name,
  headers: { 'X-API-Key': text },
  user,
  key: { scopes, tier: 'PAID' },
});
