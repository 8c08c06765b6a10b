import type { OrganizationId } from '#rules';
import { type DataKeyRow, LIVE, type Tx, prepared, rows, touches } from '#entities';
import { IS_VALID_KEY } from './account.store';
import { CHECKED_FOR, UNCHECKED_FOR } from './sso-sign-in.store';

/** A sign-in whose issuer is to be asked. */
export interface ReadySsoSignIn {
  readonly familyId: string;
  readonly organizationId: OrganizationId;
  /** the last attempt had no answer */
  readonly isFailing: boolean;
}

/** A sign-in that this worker alone checks, until its lease ends. */
export interface LeasedSsoSignIn {
  readonly familyId: string;
  readonly organizationId: OrganizationId;
  readonly providerId: string;
  readonly userId: string;
  readonly userEmail: string;
  readonly subject: string;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly dataKey: DataKeyRow;
}

/** Of each organization: one with many that fail leaves room for the others. */
const READY_PER_ORGANIZATION = 24;
/** Between attempts while an issuer does not answer: a part of how long it has not, within these seconds. */
const RETRY = { least: 15, most: 120 };

const READY = {
  name: 'ready-sso-sign-ins',
  text: `SELECT ready.* FROM (SELECT DISTINCT organization_id FROM identity_providers) o CROSS JOIN LATERAL (
      SELECT s.family_id AS "familyId", s.organization_id AS "organizationId",
        s.check_due_at > s.checked_at + interval '10 minutes' AS "isFailing"
      FROM sso_sign_ins s WHERE s.organization_id = o.organization_id AND s.check_due_at <= now()
      ORDER BY s.check_due_at LIMIT ${READY_PER_ORGANIZATION}) ready`,
};

/** SQL: the sign-in `s` is over: signed out, revoked or expired. */
const IS_OVER = `NOT EXISTS (SELECT FROM refresh_tokens t
  WHERE t.family_id = s.family_id AND t.revoked_at IS NULL AND t.expires_at > now())`;

/** SQL: it is the newest one by its identity, and of a user who still has access without a sign-in. */
const IS_WORD_ON_ACCESS = `NOT EXISTS (SELECT FROM sso_sign_ins later
    WHERE later.identity_id = s.identity_id AND (later.created_at, later.family_id) > (s.created_at, s.family_id))
  AND (EXISTS (SELECT FROM sessions live WHERE live.user_id = s.user_id AND live.status IN (${LIVE}))
    OR EXISTS (SELECT FROM api_keys k
      WHERE k.organization_id = s.organization_id AND k.user_id = s.user_id AND ${IS_VALID_KEY}))`;

/** Sign-ins that workers ask the issuers about. Serves all organizations: each row names its own. */
export class DueSsoSignInStore {
  /** Those that have waited longest first, in each organization. */
  ready(tx: Tx): Promise<ReadySsoSignIn[]> {
    return prepared<ReadySsoSignIn>(tx, READY, []);
  }

  /**
   * Leases sign-ins; no two workers get the same. Those that are over are forgotten instead, unless the user's sessions or API
   * keys go on: a leaver may have signed out before.
   */
  async lease(tx: Tx, familyIds: readonly string[], seconds: number): Promise<LeasedSsoSignIn[]> {
    await tx.query(
      `DELETE FROM sso_sign_ins s WHERE s.family_id = ANY ($1::uuid[]) AND 
         (s.sealed_data IS NULL OR ${IS_OVER} AND NOT (${IS_WORD_ON_ACCESS}))`,
      [familyIds],
    );
    return rows<LeasedSsoSignIn>(
      tx,
      `WITH free AS (
         SELECT s.family_id, s.organization_id FROM sso_sign_ins s
         WHERE s.family_id = ANY ($1::uuid[]) AND s.check_due_at <= now() FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE sso_sign_ins s SET check_due_at = now() + make_interval(secs => $2)
       FROM free CROSS JOIN LATERAL (SELECT * FROM data_keys k WHERE k.organization_id = free.organization_id
         ORDER BY k.version DESC LIMIT 1) k, user_identities i, users u
       WHERE s.family_id = free.family_id AND i.id = s.identity_id AND u.id = s.user_id
       RETURNING s.family_id AS "familyId", s.organization_id AS "organizationId", i.provider_id AS "providerId",
         s.user_id AS "userId", u.email AS "userEmail", i.subject,
         s.sealed_data AS "sealedData",
         jsonb_build_object('organizationId', k.organization_id, 'version', k.version,
           'masterKeyVersion', k.master_key_version, 'wrappedKey', k.wrapped_key) AS "dataKey"`,
      [familyIds, seconds],
    );
  }

  /** Keeps the newest refresh token of the issuer. */
  async keep(tx: Tx, familyId: string, sealedData: Readonly<Record<string, string>>): Promise<void> {
    await tx.query('UPDATE sso_sign_ins SET sealed_data = $2 WHERE family_id = $1', [
      familyId,
      JSON.stringify(sealedData),
    ]);
  }

  /** The issuer vouched, and what it said has been applied. */
  async vouched(tx: Tx, familyId: string): Promise<void> {
    await tx.query(
      `UPDATE sso_sign_ins SET checked_at = now(), check_due_at = now() + ${CHECKED_FOR} WHERE family_id = $1`,
      [familyId],
    );
  }

  /**
   * The issuer could not be asked: it is tried again, later the longer it has not answered.
   * @returns false: it has not vouched for the sign-in for as long as one without checks lasts
   */
  postpone(tx: Tx, familyId: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE sso_sign_ins SET check_due_at = now() + make_interval(secs =>
         least(${RETRY.most}, greatest(${RETRY.least}, extract(epoch FROM now() - checked_at - interval '10 minutes') / 4)))
       WHERE family_id = $1 AND checked_at > now() - interval '${UNCHECKED_FOR}' RETURNING family_id`,
      [familyId],
    );
  }
}
