import { randomUUID } from 'node:crypto';
import type { Tx } from '#entities';
import { RefreshTokenStore } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

const GRACE_SECONDS = 10;

describe('Refresh tokens', () => {
  const database = ownDatabase(6);
  let owner: { userId: string; organizationId: string };
  const tokens = new RefreshTokenStore();

  beforeAll(async () => {
    [owner] = await database.autocommit.query<[typeof owner]>(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o
       RETURNING id AS "userId", organization_id AS "organizationId"`,
    );
  });

  const issue = async (tx: Tx, familyId: string): Promise<string> => {
    const tokenHash = randomUUID();
    const times = { signedInAt: null, ttlSeconds: 600, maxDays: 30 };
    const client = { ipAddress: null, userAgent: null };
    await tokens.save(tx, { ...owner, ...times, ...client, familyId, tokenHash, mfaSetupOnly: false });
    return tokenHash;
  };
  const waiters = async (): Promise<number> => {
    const rows = await database.autocommit.query<unknown[]>(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length;
  };

  it.each<[string, (tx: Tx, used: string) => Promise<unknown>]>([
    ['a sign-out', (tx, used) => tokens.revokeFamily(tx, used)],
    [
      'a new password',
      async (tx) => {
        await tx.query('UPDATE users SET password_changed_at = now() WHERE id = $1', [owner.userId]);
        await tokens.revokeAllExcept(tx, owner.userId, null);
      },
    ],
  ])('made by a rotation that %s meets are revoked with the others', async (_deed, revoke) => {
    const familyId = randomUUID();
    const first = await issue(database.autocommit, familyId);
    let revoking: Promise<unknown> = Promise.resolve();
    const second = await database.transaction(async (tx) => {
      expect(await tokens.use(tx, first, GRACE_SECONDS)).toMatchObject({ outcome: 'rotated' });
      revoking = database.transaction((other) => revoke(other, first));
      await until('the revocation waits', async () => (await waiters()) === 1);
      return issue(tx, familyId);
    });
    await revoking;
    expect(await tokens.use(database.autocommit, second, GRACE_SECONDS)).toEqual({ outcome: 'unknown' });
  });
});
