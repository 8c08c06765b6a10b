import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type AuditActor, type Database, SYSTEM_ACTOR, type Tx } from '#entities';
import { type OrganizationId, ruleSpecs } from '#rules';
import { AccessRequestStore, SessionStore, TenantStores } from '#tenant-store';
import { LedgerRows } from '../sessions/ledger';

const ADDRESS = '203.0.113.1';
const SPECS = ruleSpecs(`${ADDRESS}/32`, { port: 22 }, 'one');
const MAX_DELAY_MS = 4;
const DELAYED_OF_THREE = 1;

interface Ground {
  readonly organizationId: OrganizationId;
  readonly approverIds: readonly [string, string];
  readonly deciders: string;
  readonly roleId: string;
  readonly targetId: string;
  readonly resourceId: string;
}

interface Round {
  readonly id: string;
  readonly requesterId: string;
  /** administrators decide, not the members of a role */
  readonly byAdministrators: boolean;
  readonly needed: number;
}

/** What those saw, in their transactions, who took something away. */
interface Seen {
  ofDemoted: number | null;
  ofLost: number | null;
  status: string | null;
}

/** What was left when a race was over. */
interface Outcome {
  readonly status: string;
  readonly approvals: number;
  readonly approved: number;
  readonly denied: number;
  readonly ofDemoted: number;
  readonly sessions: number;
  readonly live: number;
  readonly ends: string[];
}

/** Races of everything that may happen to one access request. */
export class RequestRaces {
  private ground!: Ground;
  private readonly rows: LedgerRows;

  /** @param requests decides; another one may be planted */
  constructor(
    private readonly database: Database,
    private readonly requests: Pick<AccessRequestStore, 'decide'> = new AccessRequestStore(),
  ) {
    this.rows = new LedgerRows(database);
  }

  async prepare(): Promise<this> {
    const org = await this.rows.organization();
    const { organizationId } = org;
    const targetId = await this.rows.target();
    const resourceId = await this.rows.resource(org, targetId);
    const [made] = await this.rows.rows<{ approverIds: [string, string]; deciders: string; roleId: string }>(
      `WITH approvers AS (
         INSERT INTO users (organization_id, email, name) VALUES ($1, 'a', 'A'), ($1, 'b', 'B') RETURNING id
       ), deciders AS (
         INSERT INTO roles (organization_id, name) VALUES ($1, 'Deciders') RETURNING id
       ), role AS (
         INSERT INTO roles (organization_id, name) VALUES ($1, 'Developers') RETURNING id
       ), held AS (
         INSERT INTO role_resources (organization_id, role_id, resource_id) SELECT $1, id, $2 FROM role
       ), verified AS (UPDATE resources SET is_active = true WHERE id = $2)
       SELECT ARRAY(SELECT id FROM approvers) AS "approverIds", deciders.id AS deciders, role.id AS "roleId"
       FROM deciders, role`,
      [organizationId, resourceId],
    );
    this.ground = { organizationId, targetId, resourceId, ...made! };
    return this;
  }

  /** @returns what is wrong afterwards */
  async race(): Promise<string[]> {
    const round = await this.begin({ byAdministrators: randomInt(2) === 0, needed: 1 + randomInt(2) });
    const [first, second] = this.ground.approverIds;
    const seen: Seen = { ofDemoted: null, ofLost: null, status: null };
    const racers: Record<string, () => Promise<unknown>> = {
      approveFirst: () => this.decide('approve', round, first),
      approveSecond: () => this.decide('approve', round, second),
      approveAgain: () => this.decide('approve', round, second),
      approveOwn: () => this.decide('approve', round, round.requesterId),
      deny: () => (randomInt(4) === 0 ? this.decide('deny', round, second) : Promise.resolve(false)),
      cancel: () =>
        randomInt(4) === 0 ? this.decide('cancel', round, round.requesterId) : Promise.resolve(false),
      start: () => this.start(round),
      startAgain: () => this.start(round),
      demote: async () => void (seen.ofDemoted = randomInt(2) === 0 ? await this.demote(round, first) : null),
      lose: async () => void (seen.ofLost = randomInt(4) === 0 ? await this.lose(round) : null),
      deactivate: async () => void (seen.status = randomInt(4) === 0 ? await this.deactivate(round) : null),
    };
    const results: Record<string, unknown> = {};
    await Promise.all(
      shuffled(Object.entries(racers)).map(async ([name, run]) => {
        if (randomInt(3) < DELAYED_OF_THREE) await pause(randomInt(MAX_DELAY_MS));
        results[name] = await run();
      }),
    );
    results['startLast'] = await this.start(round);
    return this.verdict(round, results, seen);
  }

  private async begin(kind: Omit<Round, 'id' | 'requesterId'>): Promise<Round> {
    const { organizationId, approverIds, deciders, roleId, resourceId } = this.ground;
    const [made] = await this.rows.rows<{ id: string; requesterId: string }>(
      `WITH policy AS (
         UPDATE roles SET approvals = $7, approver_role_ids = CASE WHEN $6 THEN '{}' ELSE ARRAY[$3::uuid] END WHERE id = $4
       ), admins AS (UPDATE users SET is_org_admin = $6 WHERE id = ANY ($2::uuid[])
       ), members AS (
         INSERT INTO role_users (organization_id, role_id, user_id) SELECT $1, $3, unnest($2::uuid[]) ON CONFLICT DO NOTHING
       ), requester AS (
         INSERT INTO users (organization_id, email, name, is_org_admin) VALUES ($1, gen_random_uuid()::text, 'R', true)
         RETURNING id
       ), mine AS (
         INSERT INTO role_users (organization_id, role_id, user_id)
         SELECT $1, role, requester.id FROM requester, unnest(ARRAY[$3::uuid, $4::uuid]) AS role
       )
       INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, ipv4_address,
         approvals_needed, approver_role_ids, due_at)
       SELECT $1, id, ARRAY[$5::uuid], 1, 'why', '${ADDRESS}', $7, CASE WHEN $6 THEN '{}' ELSE ARRAY[$3::uuid] END,
         now() + interval '1 hour' FROM requester
       RETURNING id, requester_id AS "requesterId"`,
      [organizationId, approverIds, deciders, roleId, resourceId, kind.byAdministrators, kind.needed],
    );
    return { ...made!, ...kind };
  }

  private decide(as: 'approve' | 'deny' | 'cancel', { id }: Round, userId: string): Promise<boolean> {
    const actor: AuditActor = { ...SYSTEM_ACTOR, actorType: 'USER', actorId: userId };
    return this.database.transaction((tx) =>
      this.requests.decide(tx, this.ground.organizationId, as, {
        id,
        userId,
        signInId: null,
        note: null,
        actor,
      }),
    );
  }

  private async start({ id, requesterId }: Round): Promise<boolean> {
    const { organizationId, resourceId, targetId } = this.ground;
    const started = await this.database.statement((tx) =>
      new SessionStore().start(
        tx,
        organizationId,
        {
          id: randomUUID(),
          userId: requesterId,
          holder: randomUUID(),
          ipv4Address: ADDRESS,
          ipv6Address: null,
          hours: 1,
          leaseSeconds: null,
          replaced: null,
          tokenHash: null,
          apiKeyId: null,
          reason: 'why',
          ticket: null,
          permission: { reasonPatterns: ['*'], accessRequestId: id, brokenBy: null },
          holders: [{ resourceId, revision: 0, targetId, ipVersion: 4, ipAddress: ADDRESS, specs: SPECS }],
          limits: { perUser: 50, perServiceUser: 50 },
        },
        {
          ...SYSTEM_ACTOR,
          eventType: 'SESSION_STARTED',
          resourceType: 'SESSION',
          resourceId: id,
          resourceName: null,
        },
      ),
    );
    return started !== null;
  }

  /** @returns how many approvals the approver had given when the right to do so was gone */
  private demote({ id, byAdministrators }: Round, approverId: string): Promise<number> {
    return this.database.transaction(async (tx) => {
      if (byAdministrators)
        await tx.query('UPDATE users SET is_org_admin = false WHERE id = $1', [approverId]);
      else
        await tx.query('DELETE FROM role_users WHERE user_id = $1 AND role_id = $2', [
          approverId,
          this.ground.deciders,
        ]);
      return this.approvalsOf(tx, id, approverId);
    });
  }

  /** @returns how many had approved when the requester's role was gone */
  private lose({ id, requesterId }: Round): Promise<number> {
    return this.database.transaction(async (tx) => {
      const { roleId, approverIds } = this.ground;
      await tx.query('DELETE FROM role_users WHERE user_id = $1 AND role_id = $2', [requesterId, roleId]);
      const [first, second] = approverIds;
      return (await this.approvalsOf(tx, id, first)) + (await this.approvalsOf(tx, id, second));
    });
  }

  private async approvalsOf(tx: Tx, id: string, approverId: string): Promise<number> {
    const given = await tx.query<unknown[]>(
      `SELECT 1 FROM access_request_decisions WHERE request_id = $1 AND user_id = $2 AND decision = 'APPROVED'`,
      [id, approverId],
    );
    return given.length;
  }

  /** @returns the status that the request had when its requester was gone */
  private deactivate({ id, requesterId }: Round): Promise<string> {
    return this.database.transaction(async (tx) => {
      await tx.query('UPDATE users SET is_active = false WHERE id = $1', [requesterId]);
      await new TenantStores().offboarding.end(tx, this.ground.organizationId, requesterId, SYSTEM_ACTOR);
      const [request] = await tx.query<{ status: string }[]>(
        'SELECT status FROM access_requests WHERE id = $1',
        [id],
      );
      return request!.status;
    });
  }

  private async outcome({ id }: Round): Promise<Outcome> {
    const [outcome] = await this.rows.rows<Outcome>(
      `SELECT a.status, a.approvals,
         (SELECT count(*)::int FROM access_request_decisions d WHERE d.request_id = a.id AND d.decision = 'APPROVED') AS approved,
         (SELECT count(*)::int FROM access_request_decisions d WHERE d.request_id = a.id AND d.decision = 'DENIED') AS denied,
         (SELECT count(*)::int FROM access_request_decisions d WHERE d.request_id = a.id AND d.user_id = $2
           AND d.decision = 'APPROVED') AS "ofDemoted",
         (SELECT count(*)::int FROM sessions s WHERE s.access_request_id = a.id) AS sessions,
         (SELECT count(*)::int FROM sessions s WHERE s.access_request_id = a.id AND s.status = 'PENDING') AS live,
         ARRAY(SELECT r.event_type FROM audit_records r WHERE r.resource_id = a.id
           AND r.event_type LIKE 'ACCESS_REQUEST%' AND r.event_type <> 'ACCESS_REQUEST_APPROVAL_GIVEN') AS ends
       FROM access_requests a WHERE a.id = $1`,
      [id, this.ground.approverIds[0]],
    );
    return outcome!;
  }

  private async verdict(
    round: Round,
    results: Readonly<Record<string, unknown>>,
    seen: Readonly<Seen>,
  ): Promise<string[]> {
    const found = await this.outcome(round);
    const count = (...names: string[]): number => names.filter((name) => results[name] === true).length;
    const starts = count('start', 'startAgain', 'startLast');
    const approvals = count('approveFirst', 'approveSecond', 'approveAgain');
    const wasApproved = ['APPROVED', 'USED', 'LAPSED'].includes(found.status);
    const facts: Readonly<Record<string, boolean>> = {
      'every approval that was answered is kept, and no other': [found.approvals, found.approved].every(
        (kept) => kept === approvals,
      ),
      'nobody approves twice': count('approveSecond', 'approveAgain') <= 1,
      'nobody approves an own request': results['approveOwn'] === false,
      'it is approved by as many as it needs, not more': wasApproved
        ? found.approvals === round.needed
        : found.approvals < round.needed,
      'one session uses it':
        starts === found.sessions && found.sessions === (found.status === 'USED' ? 1 : 0),
      'a denial ends it':
        (found.status === 'DENIED') === (count('deny') === 1) && found.denied === count('deny'),
      'a cancellation ends it': count('cancel') === 0 || ['CANCELLED', 'LAPSED'].includes(found.status),
      'one end is recorded':
        found.ends.length === (found.status === 'LAPSED' ? 2 : found.status === 'WAITING' ? 0 : 1),
      'who lost the right does not approve afterwards':
        seen.ofDemoted === null || seen.ofDemoted === found.ofDemoted,
      'what its requester can open no longer is not approved':
        seen.ofLost === null || seen.ofLost === found.approved,
      'nothing happens after the requester is gone':
        seen.status === null || (seen.status === found.status && found.live === 0),
    };
    return Object.entries(facts).flatMap(([fact, holds]) =>
      holds ? [] : [`not so: ${fact}: ${JSON.stringify({ round, results, seen, found })}`],
    );
  }
}

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => [randomInt(2 ** 32), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
