import type { OrganizationId } from '#rules';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { AccessRequestStore, StaticIpRuleStore, TenantStores, UserStore } from '#tenant-store';
import { type LedgerOrganization, LedgerRows } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

const ASKED = { reason: 'INC-12', staticRules: false };

describe('A start and a lockdown at the same time', () => {
  const database = ownDatabase(4);
  const { lockdowns } = new TenantStores();
  const ledger = new LedgerRows(database);
  let owner: LedgerOrganization;
  let organization: OrganizationId;
  let userId: string;
  let adminId: string;

  beforeEach(async () => {
    owner = await ledger.organization();
    ({ organizationId: organization, userId } = owner);
    adminId = await administrator();
  });

  const administrator = async (): Promise<string> => {
    const [made] = await database.autocommit.query<{ id: string }[]>(
      `INSERT INTO users (organization_id, email, name, is_org_admin) VALUES ($1, gen_random_uuid(), 'B', true) RETURNING id`,
      [organization],
    );
    return made!.id;
  };

  /** As the statement of a start does. @returns whether it has started */
  const start = async (tx: Tx, perUser: number): Promise<boolean> => {
    const started = await tx.query<unknown[]>(
      `INSERT INTO sessions (organization_id, user_id, ipv4_address, expires_at)
       SELECT $1, $2, '203.0.113.1', now() + interval '1 hour' WHERE limit_live_sessions($2, $3, $3) RETURNING id`,
      [organization, userId, perUser],
    );
    return started.length > 0;
  };
  const declare = async (tx: Tx, subjectId: string): Promise<number> =>
    (await lockdowns.declare(tx, organization, { subjectId, adminId }, ASKED, SYSTEM_ACTOR))!.sessions;
  /** Does the second while the first is done and not committed, and until it waits for the first. */
  const overlapping = async <T>(
    one: (tx: Tx) => Promise<unknown>,
    other: (tx: Tx) => Promise<T>,
  ): Promise<T> => {
    let second: Promise<T> | undefined;
    await database.transaction(async (tx) => {
      await one(tx);
      second = database.transaction(other);
      await untilBlocked(database);
    });
    return second!;
  };

  describe.each([
    ['the organization', () => organization as string],
    ['the user', () => userId],
  ])('of %s', (_, subject) => {
    it.each([50, 0])('the lockdown waits for the start and ends it, with the limit %d', async (limit) => {
      expect(
        await overlapping(
          (tx) => start(tx, limit),
          (tx) => declare(tx, subject()),
        ),
      ).toBe(1);
    });

    it.each([50, 0])('the start waits for the lockdown and is refused, with the limit %d', async (limit) => {
      expect(
        await overlapping(
          (tx) => declare(tx, subject()),
          (tx) => start(tx, limit),
        ),
      ).toBe(false);
    });
  });

  it('a new user waits for the lockdown of the organization, whose starts it has not locked', async () => {
    const user = { email: 'b@example.com', name: 'B' };
    const added = overlapping(
      (tx) => declare(tx, organization),
      (tx) => new UserStore().createService(tx, organization, user),
    );
    userId = (await added)!;
    expect(await start(database.autocommit, 50)).toBe(false);
  });

  describe('that closes static IP rules', () => {
    const staticRules = new StaticIpRuleStore();
    const closes = async (tx: Tx): Promise<number> => {
      const of = { subjectId: organization, adminId };
      return (await lockdowns.declare(tx, organization, of, { ...ASKED, staticRules: true }, SYSTEM_ACTOR))!
        .closedRules;
    };

    it('waits for one that is added, and closes it', async () => {
      const add = async (tx: Tx): Promise<void> => {
        await staticRules.lockAdditions(tx, organization);
        await tx.query(
          `INSERT INTO static_ip_rules (organization_id, label, ip_address, created_by_email)
           VALUES ($1, 'office', '203.0.113.1/32', 'a@example.com')`,
          [organization],
        );
      };
      expect(await overlapping(add, closes)).toBe(1);
    });

    it('comes before one that waits for it, which is refused', async () => {
      expect(await overlapping(closes, (tx) => staticRules.lockAdditions(tx, organization))).toBe(false);
    });
  });

  describe('of one who approves', () => {
    const requests = new AccessRequestStore();
    let request: string;

    beforeEach(async () => {
      const [made] = await database.autocommit.query<{ id: string }[]>(
        `INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, approvals_needed, due_at)
         VALUES ($1, $2, ARRAY[$3::uuid], 1, 'INC-12', 1, now() + interval '1 hour') RETURNING id`,
        [organization, userId, await reachable()],
      );
      request = made!.id;
      // who declares it
      userId = adminId;
      adminId = await administrator();
    });

    /** @returns a resource that a role of the user reaches */
    const reachable = async (): Promise<string> => {
      const resourceId = await ledger.resource(owner, await ledger.target());
      await ledger.rows(
        `WITH role AS (INSERT INTO roles (organization_id, name) VALUES ($1, 'Developers') RETURNING id
         ), held AS (INSERT INTO role_users (organization_id, role_id, user_id) SELECT $1, id, $2 FROM role)
         INSERT INTO role_resources (organization_id, role_id, resource_id) SELECT $1, id, $3 FROM role`,
        [organization, userId, resourceId],
      );
      return resourceId;
    };
    const approve = (tx: Tx): Promise<boolean> =>
      requests.decide(tx, organization, 'approve', {
        id: request,
        userId,
        signInId: null,
        note: null,
        actor: SYSTEM_ACTOR,
      });
    const status = async (): Promise<unknown> =>
      (
        await database.autocommit.query('SELECT status, approvals FROM access_requests WHERE id = $1', [
          request,
        ])
      )[0];

    it('waits for the approval, and withdraws it', async () => {
      await overlapping(approve, (tx) => declare(tx, userId));
      expect(await status()).toEqual({ status: 'LAPSED', approvals: 1 });
    });

    it('comes before the approval, which is refused', async () => {
      expect(await overlapping((tx) => declare(tx, userId), approve)).toBe(false);
      expect(await status()).toEqual({ status: 'WAITING', approvals: 0 });
    });
  });

  it('of each other by two administrators leaves one of them', async () => {
    userId = adminId;
    adminId = await administrator();
    const other = { subjectId: adminId, adminId: userId };
    const second = await overlapping(
      (tx) => declare(tx, userId),
      (tx) => lockdowns.declare(tx, organization, other, ASKED, SYSTEM_ACTOR),
    );
    expect(second).toBeNull();
  });
});
