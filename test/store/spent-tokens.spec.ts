import { SpentTokenStore } from '#tenant-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const DAYS = ['2 days', '1 hour', '-1 hour'];
/** How long ago rows have run out, and their insertion. */
const ENDING: [ends: string[], insertion: string][] = [
  [
    DAYS,
    `INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, signed_in_at, expires_at)
     VALUES ($org, $user, gen_random_uuid(), gen_random_uuid(), now(), $end)`,
  ],
  [
    DAYS,
    `INSERT INTO account_tokens (organization_id, user_id, purpose, token_hash, expires_at)
     VALUES ($org, $user, 'RESET', gen_random_uuid(), $end)`,
  ],
  [DAYS, 'INSERT INTO mfa_challenges (organization_id, user_id, expires_at) VALUES ($org, $user, $end)'],
  [
    DAYS,
    'INSERT INTO sign_in_failures (account_key, failures, last_failed_at) VALUES (gen_random_uuid(), 9, $end)',
  ],
  [
    DAYS,
    `INSERT INTO known_devices (organization_id, user_id, token_hash, expires_at)
     VALUES ($org, $user, gen_random_uuid(), $end)`,
  ],
  [
    ['2 days', '1 hour'],
    'INSERT INTO oidc_used_tokens (organization_id, token_hash, expires_at) VALUES ($org, gen_random_uuid(), $end)',
  ],
  [
    ['31 days', '29 days'],
    `INSERT INTO user_identities (organization_id, provider_id, subject, last_seen_at)
     VALUES ($org, $provider, gen_random_uuid(), $end)`,
  ],
  [
    ['31 days'],
    `INSERT INTO user_identities (organization_id, provider_id, subject, user_id, last_seen_at)
     VALUES ($org, $provider, gen_random_uuid(), $user, $end)`,
  ],
  [
    ['1 second', '-1 hour'],
    `INSERT INTO sso_attempts (organization_id, provider_id, client_challenge, returns_to, expires_at)
     VALUES ($org, $provider, '', 'code', $end)`,
  ],
];

describe('Tokens that have run out', () => {
  const database = ownDatabase(2);

  it('are deleted a day later, everything else stays', async () => {
    const tx = database.autocommit;
    const owner = await new LedgerRows(database).organization();
    const [provider] = await tx.query<{ id: string }[]>(
      `INSERT INTO identity_providers (organization_id, name, issuer, client_id, sealed_data, created_by_email)
       VALUES ($1, 'Directory', 'https://login.example.com', 'drawbridge', '{}', 'a@example.com') RETURNING id`,
      [owner.organizationId],
    );
    const texts = { $org: owner.organizationId, $user: owner.userId, $provider: provider!.id };
    for (const [ends, insertion] of ENDING)
      for (const end of ends) {
        let statement = insertion.replace('$end', `now() - interval '${end}'`);
        for (const [name, id] of Object.entries(texts)) statement = statement.replace(name, `'${id}'`);
        await tx.query(statement);
      }
    const store = new SpentTokenStore();
    await expect(store.deleteSpent(tx, 3)).resolves.toBe(3);
    await expect(store.deleteSpent(tx, 3)).resolves.toBe(3);
    await expect(store.deleteSpent(tx, 3)).resolves.toBe(2);
    await expect(store.deleteSpent(tx, 3)).resolves.toBe(0);
    const [left] = await tx.query<{ count: number }[]>('SELECT count(*)::int AS count FROM refresh_tokens');
    expect(left!.count).toBe(2);
    const kept = await tx.query<{ linked: boolean; recent: boolean }[]>(
      `SELECT user_id IS NOT NULL AS linked, last_seen_at > now() - interval '30 days' AS recent FROM user_identities
       ORDER BY linked`,
    );
    expect(kept).toEqual([
      { linked: false, recent: true },
      { linked: true, recent: false },
    ]);
  });
});
