import { randomInt, randomUUID } from 'node:crypto';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { sessionTokenText } from './matrix-callers';

/** The owner of a new object. */
export interface Owner {
  readonly organizationId: string;
  /** one of its users, for objects that belong to a user */
  readonly userId: string;
}

interface Table {
  /** as the collection, unless something else is given */
  readonly table?: string;
  /** columns with unique values: the name, unless others are given */
  readonly own?: (owner: Owner) => object;
  /** column that paths use instead of the id */
  readonly calledBy?: string;
}

const named = (): object => ({ name: randomUUID() });

/** The table of a collection in a path. */
const TABLES: Readonly<Record<string, Table>> = {
  sessions: {
    own: ({ userId }) => ({
      user_id: userId,
      holder: randomUUID(),
      status: 'PENDING',
      token_hash: null,
      api_key_id: null,
    }),
  },
  'access-requests': {
    own: ({ userId }) => ({
      requester_id: userId,
      status: 'WAITING',
      due_at: new Date(Date.now() + 3_600_000),
      approvals: 0,
      session_id: null,
    }),
  },
  // hosts with an agent: routes of a resource's guard have nothing to answer for others
  resources: { own: () => ({ ...named(), provider: 'AGENT', resource_type: 'HOST_FIREWALL' }) },
  credentials: {},
  roles: {},
  users: {
    own: () => ({ email: `${randomUUID()}@example.com`, is_org_admin: false, platform_role: 'CUSTOMER' }),
  },
  'sign-ins': {
    table: 'refresh_tokens',
    own: ({ userId }) => ({ user_id: userId, token_hash: randomUUID(), family_id: randomUUID() }),
    calledBy: 'family_id',
  },
  'api-keys': { own: () => ({ key_hash: randomUUID() }) },
  'oidc-trusts': {},
  webhooks: { own: () => ({}) },
  deliveries: { table: 'webhook_deliveries', own: () => ({ position: randomInt(2 ** 47) }) },
  'identity-providers': {},
  identities: { table: 'user_identities', own: () => ({ subject: randomUUID() }) },
  'static-ip-rules': { own: () => ({ label: randomUUID() }) },
  agents: { own: () => ({ ...named(), target_key: randomUUID() }), calledBy: 'name' },
  organizations: {
    own: () => ({
      slug: randomUUID(),
      external_id: randomUUID(),
      suspended_at: null,
      sso_required: false,
      recovery_administrator_id: null,
    }),
  },
};

/** Overrides of copied rows, which a request may have ended. Columns that a table lacks are ignored. */
const UNHARMED = { deleted_at: null, revoked_at: null, ended_at: null, ended_reason: null, is_active: true };

/** Parameters that do not name an object of an organization. */
const VALUES: Readonly<Record<string, string>> = {
  adapter: 'sandbox',
  slug: 'unclaimed',
  account: '123456789012',
};

/** A parameter of a path, and the collection its object is in. */
export interface PathObject {
  readonly parameter: string;
  readonly collection: string | undefined;
}

/** `/api/v1/roles/{id}/users/{userId}`: an object of `roles`, one of `users`. */
export function objectsIn(path: string): PathObject[] {
  const parts = path.split('/');
  return parts.flatMap((part, index) => {
    const [, parameter] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (parameter === undefined || parameter in VALUES) return [];
    const before = parts.slice(0, index).toReversed();
    return [{ parameter, collection: before.find((name) => name in TABLES) }];
  });
}

/** Fills the parameters of a path. */
export const pathWith = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? VALUES[name] ?? 'unknown');

/** Creates objects as copies of existing ones: each request that may change an object gets its own. */
export class MatrixObjects {
  constructor(private readonly drawbridge: Drawbridge) {}

  /** Creates a first object of each kind that no other part of the test creates. */
  async prepare({ organizationId, userId }: Owner): Promise<void> {
    await this.drawbridge.query(
      `WITH session AS (
         INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, expires_at)
         VALUES ($1, $2, gen_random_uuid(), '203.0.113.77', now() + interval '1 hour')
       ), request AS (
         INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, approvals_needed,
           due_at)
         VALUES ($1, $2, '{}', 1, 'INC-12', 1, now() + interval '1 hour')
       ), static_rule AS (
         INSERT INTO static_ip_rules (organization_id, label, ip_address, created_by_email)
         VALUES ($1, 'office', '203.0.113.0/24', 'ada@example.com')
       ), key AS (
         INSERT INTO api_keys (organization_id, user_id, name, key_prefix, key_hash, scopes, created_by_email)
         VALUES ($1, $2, 'first', 'dbk_000000', gen_random_uuid(), '{}', 'ada@example.com')
       ), trust AS (
         INSERT INTO oidc_trusts (organization_id, name, preset, issuer, service_user_id, scopes, conditions,
           created_by_email)
         VALUES ($1, gen_random_uuid(), 'CUSTOM', 'https://gitlab.com', $2, '{sessions:read}', '{"sub": ["job"]}',
           'ada@example.com')
       ), webhook AS (
         INSERT INTO webhooks (organization_id, format, shown_url, sealed_data, event_types, cursor, created_by_email)
         VALUES ($1, 'standard', 'https://hooks.example.com/', '{}', '{}', 0, 'ada@example.com') RETURNING id
       ), delivery AS (
         INSERT INTO webhook_deliveries (organization_id, webhook_id, position, record_id, event_type, status, attempts,
           sent_at)
         SELECT $1, id, 1, gen_random_uuid(), 'SESSION_STARTED', 'DELIVERED', 1, now() FROM webhook
       ), provider AS (
         INSERT INTO identity_providers (organization_id, name, issuer, client_id, sealed_data, created_by_email)
         VALUES ($1, 'first', 'https://login.example.com', 'drawbridge', '{}', 'ada@example.com') RETURNING id
       ), identity AS (
         INSERT INTO user_identities (organization_id, provider_id, subject) SELECT $1, id, 'first' FROM provider
       )
       INSERT INTO agents (organization_id, name, target_key, instance, seen_at)
       VALUES ($1, gen_random_uuid(), gen_random_uuid(), 'first', now())`,
      [organizationId, userId],
    );
  }

  /** Gives a session a token. @returns its text */
  async sessionToken(id: string): Promise<string> {
    const text = sessionTokenText();
    await this.drawbridge.query(
      `UPDATE sessions SET token_hash = encode(sha256($2::text::bytea), 'hex') WHERE id = $1`,
      [id, text],
    );
    return text;
  }

  /** @returns its id, or the value that paths use instead */
  async make(collection: string, owner: Owner): Promise<string> {
    const { table = collection.replaceAll('-', '_'), own = named, calledBy = 'id' } = TABLES[collection]!;
    const changes = { ...UNHARMED, ...own(owner), id: randomUUID() };
    const organization = table === 'organizations' ? 'id' : 'organization_id';
    const [made] = await this.drawbridge.query<{ called: string }>(
      `INSERT INTO ${table}
       SELECT (jsonb_populate_record(known, $2)).* FROM ${table} AS known WHERE ${organization} = $1 LIMIT 1
       RETURNING ${calledBy} AS called`,
      [owner.organizationId, JSON.stringify(changes)],
    );
    if (!made) throw new Error(`No ${collection} to copy in the organization ${owner.organizationId}`);
    return made.called;
  }
}
