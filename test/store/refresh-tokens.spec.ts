import { randomUUID } from 'node:crypto';
import type { Tx } from '#entities';
import { RefreshTokenStore } from '#tenant-store';
import { type LedgerOrganization, LedgerRows } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

const GRACE_SECONDS = 10;

describe('Refresh tokens', () => {
  const database = ownDatabase(6);
  let owner: LedgerOrganization;
  const tokens = new RefreshTokenStore();

  beforeAll(async () => {
    owner = await new LedgerRows(database).organization();
  });

  const issue = async (tx: Tx, familyId: string): Promise<string> => {
    const tokenHash = randomUUID();
    const times = { signedInAt: null, ttlSeconds: 600, maxDays: 30 };
    const client = { ipAddress: null, userAgent: null };
    const { userId, organizationId } = owner;
    await tokens.save(tx, {
      userId,
      organizationId,
      ...times,
      ...client,
      familyId,
      tokenHash,
      mfaSetupOnly: false,
    });
    return tokenHash;
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
      await untilBlocked(database);
      return issue(tx, familyId);
    });
    await revoking;
    expect(await tokens.use(database.autocommit, second, GRACE_SECONDS)).toEqual({ outcome: 'unknown' });
  });
});
