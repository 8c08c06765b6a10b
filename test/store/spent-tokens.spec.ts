import { SpentTokenStore } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';

describe('Tokens that have run out', () => {
  const database = ownDatabase(2);

  it('are deleted a day later, everything else stays', async () => {
    const tx = database.autocommit;
    const [owner] = await tx.query<{ id: string; org: string }[]>(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o
       RETURNING id, organization_id AS org`,
    );
    const given = [owner!.org, owner!.id];
    for (const end of ['2 days', '1 hour', '-1 hour']) {
      const over = `now() - interval '${end}'`;
      await tx.query(
        `INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, signed_in_at, expires_at)
         VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), now(), ${over})`,
        given,
      );
      await tx.query(
        `INSERT INTO account_tokens (organization_id, user_id, purpose, token_hash, expires_at)
         VALUES ($1, $2, 'RESET', gen_random_uuid(), ${over})`,
        given,
      );
      await tx.query(
        `INSERT INTO mfa_challenges (organization_id, user_id, expires_at) VALUES ($1, $2, ${over})`,
        given,
      );
      await tx.query(
        `INSERT INTO sign_in_failures (account_key, failures, last_failed_at) VALUES (gen_random_uuid(), 9, ${over})`,
      );
      await tx.query(
        `INSERT INTO known_devices (organization_id, user_id, token_hash, expires_at)
         VALUES ($1, $2, gen_random_uuid(), ${over})`,
        given,
      );
    }
    for (const end of ['2 days', '1 hour']) {
      await tx.query(
        `INSERT INTO oidc_used_tokens (organization_id, token_hash, expires_at)
         VALUES ($1, gen_random_uuid(), now() - interval '${end}')`,
        [owner!.org],
      );
    }
    const [provider] = await tx.query<{ id: string }[]>(
      `INSERT INTO identity_providers (organization_id, name, issuer, client_id, sealed_data, created_by_email)
       VALUES ($1, 'Directory', 'https://login.example.com', 'drawbridge', '{}', 'a@example.com') RETURNING id`,
      [owner!.org],
    );
    for (const [seen, user] of [
      ['31 days', null],
      ['29 days', null],
      ['31 days', owner!.id],
    ] as const) {
      await tx.query(
        `INSERT INTO user_identities (organization_id, provider_id, subject, user_id, last_seen_at)
         VALUES ($1, $2, gen_random_uuid(), $3, now() - interval '${seen}')`,
        [owner!.org, provider!.id, user],
      );
    }
    for (const end of ['1 second', '-1 hour']) {
      await tx.query(
        `INSERT INTO sso_attempts (organization_id, provider_id, client_challenge, returns_to, expires_at)
         VALUES ($1, $2, '', 'code', now() - interval '${end}')`,
        [owner!.org, provider!.id],
      );
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
