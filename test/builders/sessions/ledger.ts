import { randomUUID } from 'node:crypto';
import type { HolderKind, OrganizationId, RuleEventKind } from '#rules';
import type { Database } from '#entities';

/** An organization with a user, a credential, and a verified resource on a target. */
export interface LedgerOrganization {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly email: string;
  readonly credentialId: string;
}

export interface NewRuleEvent {
  readonly kind: RuleEventKind;
  readonly targetId: string;
  readonly at: Date;
  readonly address?: string;
  readonly holderKind?: HolderKind;
  readonly owner?: LedgerOrganization;
  readonly resourceId?: string;
  readonly sessionId?: string;
  readonly credentialId?: string;
  readonly message?: string;
  readonly cause?: string;
  /** possible from, certain from, certain until, possible until */
  readonly times?: readonly (Date | null)[];
}

const HOLDER = '203.0.113.1';

/** Inserts rows as the engine writes them, for tests that only read. */
export class LedgerRows {
  constructor(private readonly database: Pick<Database, 'autocommit'>) {}

  async organization(): Promise<LedgerOrganization> {
    const email = `${randomUUID()}@example.com`;
    const [made] = await this.rows<Omit<LedgerOrganization, 'email'>>(
      `WITH organization AS (
         INSERT INTO organizations (slug, name) VALUES (gen_random_uuid()::text, 'Example') RETURNING id
       ), account AS (
         INSERT INTO users (organization_id, email, name, password_hash) SELECT id, $1, 'Ada', 'x' FROM organization
         RETURNING id
       ), credential AS (
         INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data)
         SELECT id, 'key', 'AWS', 'ACCESS_KEY', '{}' FROM organization RETURNING id
       )
       SELECT organization.id AS "organizationId", account.id AS "userId", credential.id AS "credentialId"
       FROM organization, account, credential`,
      [email],
    );
    return { ...made!, email };
  }

  async target(): Promise<string> {
    const [made] = await this.rows<{ id: string }>(
      `INSERT INTO targets (provider, key, resource_type, identifier)
       VALUES ('AWS', gen_random_uuid()::text, 'SECURITY_GROUP', 'sg-0123456789abcdef0') RETURNING id`,
    );
    return made!.id;
  }

  async resource(
    { organizationId, credentialId }: LedgerOrganization,
    targetId: string,
    { name = 'database', createdAt = new Date(0), verified = true } = {},
  ): Promise<string> {
    const [made] = await this.rows<{ id: string }>(
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id,
         created_at, write_verified)
       VALUES ($1, $2, $3, 'AWS', 'SECURITY_GROUP', 'sg-0123456789abcdef0', $4, $5, $6) RETURNING id`,
      [organizationId, name, credentialId, targetId, createdAt, verified],
    );
    return made!.id;
  }

  async session({ organizationId, userId }: LedgerOrganization, address = HOLDER): Promise<string> {
    const [made] = await this.rows<{ id: string }>(
      `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, status, expires_at)
       VALUES ($1, $2, gen_random_uuid()::text, $3, 'ACTIVE', now() + interval '1 hour') RETURNING id`,
      [organizationId, userId, address],
    );
    return made!.id;
  }

  /** A live rule. @param times `possible_since`, `present_since`, `observed_at`, `removal_sent_at` */
  async rule(
    targetId: string,
    times: readonly (Date | null)[],
    { address = `${HOLDER}/32`, state = 'present' } = {},
  ): Promise<string> {
    const [made] = await this.rows<{ id: string }>(
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, possible_since, present_since, observed_at,
         removal_sent_at, cause)
       VALUES ($1, gen_random_uuid()::text, $2, 'tcp', '22', $3, $4, $5, $6, $7, 'STALE_RULE') RETURNING id`,
      [targetId, address, state, ...[0, 1, 2, 3].map((index) => times[index] ?? null)],
    );
    return made!.id;
  }

  /** A holder of a live rule. */
  async holder(
    ruleId: string,
    { organizationId }: LedgerOrganization,
    resourceId: string,
    sessionId: string,
    { createdAt = new Date(0), appliedAt = null as Date | null, released = false } = {},
  ): Promise<void> {
    await this.rows(
      `WITH ip AS (
         INSERT INTO resource_ips (organization_id, session_id, resource_id, resource_name, ip_version, ip_address, status,
           created_at, applied_at)
         VALUES ($1, $2, $3, 'database', 4, '203.0.113.1', CASE WHEN $7 THEN 'REMOVING' ELSE 'APPLIED' END, $4, $5)
         RETURNING id
       )
       INSERT INTO rule_holders (rule_id, resource_ip_id, cause, released_at, release_cause)
       SELECT $6, id, 'SESSION_STARTED', CASE WHEN $7 THEN now() END, CASE WHEN $7 THEN 'SESSION_STOPPED' END FROM ip`,
      [organizationId, sessionId, resourceId, createdAt, appliedAt, ruleId, released],
    );
  }

  async event(event: NewRuleEvent): Promise<void> {
    const { owner, times = [] } = event;
    await this.rows(
      `INSERT INTO rule_events (at, kind, target_id, provider, target, rule_id, address, protocol, ports, cause, message,
         possible_from, certain_from, certain_until, possible_until, holder_kind, organization_id, resource_id,
         resource_name, session_id, user_id, user_email, credential_id, worker_id, pass_id)
       VALUES ($1, $2, $3, 'AWS', 'sg-0123456789abcdef0', gen_random_uuid(), $4, 'tcp', '22', $5, $6, $7, $8, $9, $10,
         $11, $12, $13, $14, $15, $16, $17, $18, 'worker-1', gen_random_uuid())`,
      [
        event.at,
        event.kind,
        event.targetId,
        event.address ?? `${HOLDER}/32`,
        event.cause ?? null,
        event.message ?? null,
        ...[0, 1, 2, 3].map((index) => times[index] ?? null),
        event.holderKind ?? (owner ? 'SESSION' : 'ORPHAN'),
        owner?.organizationId ?? null,
        event.resourceId ?? null,
        event.resourceId ? 'database' : null,
        event.sessionId ?? null,
        owner?.userId ?? null,
        owner?.email ?? null,
        event.credentialId ?? null,
      ],
    );
  }

  async rows<Row>(statement: string, given: readonly unknown[] = []): Promise<Row[]> {
    return this.database.autocommit.query<Row[]>(statement, [...given]);
  }
}
