import { asOrganizationId, type OrganizationId } from '#rules';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { LockdownStore, StaticIpRuleStore, UserStore } from '#tenant-store';
import { ownDatabase } from '../builders/own-database';
import { until } from '../harness/until';

const ASKED = { reason: 'INC-12', staticRules: false };

describe('A start and a lockdown at the same time', () => {
  const database = ownDatabase(4);
  const lockdowns = new LockdownStore();
  let organization: OrganizationId;
  let userId: string;

  beforeEach(async () => {
    const [user] = await database.autocommit.query<{ id: string; organization_id: string }[]>(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', gen_random_uuid()) RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o
       RETURNING id, organization_id`,
    );
    organization = asOrganizationId(user!.organization_id);
    userId = user!.id;
  });

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
    (await lockdowns.declare(tx, organization, { subjectId, adminId: userId }, ASKED, SYSTEM_ACTOR)).sessions;
  /** Does the second while the first is done and not committed, and until it waits for the first. */
  const overlapping = async <T>(
    one: (tx: Tx) => Promise<unknown>,
    other: (tx: Tx) => Promise<T>,
  ): Promise<T> => {
    let second: Promise<T> | undefined;
    await database.transaction(async (tx) => {
      await one(tx);
      second = database.transaction(other);
      await until('the second waits', async () => {
        const [row] = await database.autocommit.query<{ waits: boolean }[]>(
          `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
             AND datname = current_database()) AS waits`,
        );
        return row!.waits;
      });
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
      const of = { subjectId: organization, adminId: userId };
      return (await lockdowns.declare(tx, organization, of, { ...ASKED, staticRules: true }, SYSTEM_ACTOR))
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

  it('another organization and another user start', async () => {
    await database.transaction((tx) => declare(tx, '00000000-0000-4000-8000-000000000000'));
    expect(await start(database.autocommit, 50)).toBe(true);
  });
});
