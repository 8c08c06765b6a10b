import type { OrganizationId } from '#rules';
import { DATA_KEY, type DataKeyRow, type Tx, first, newestDataKey, execute, rows, touches } from '#entities';
import {
  type AskedSsoSignIn,
  CHECKED_FOR,
  hasAccess,
  type RefusedUser,
  UNCHECKED_FOR,
} from './sso-sign-in.store';

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
  readonly lease: string;
}

/** Of each organization: one with many that fail leaves room for the others. */
const READY_PER_ORGANIZATION = 24;
const OVERDUE_BATCH_SIZE = 100;
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

/** A user whose issuer's session has been over for longer than the organization allows. */
export type OverdueUser = RefusedUser & { readonly organizationId: OrganizationId };

/** SQL: the sign-in `s` is over: signed out, revoked or expired. */
const IS_OVER = `NOT EXISTS (SELECT FROM refresh_tokens t
  WHERE t.family_id = s.family_id AND t.revoked_at IS NULL AND t.expires_at > now())`;

/** SQL: it is the newest one by its identity, and of a user who still has access without a sign-in. */
const IS_WORD_ON_ACCESS = `NOT EXISTS (SELECT FROM sso_sign_ins later
    WHERE later.identity_id = s.identity_id AND (later.created_at, later.family_id) > (s.created_at, s.family_id))
  AND ${hasAccess('s')}`;

/** SQL: the user `u` of the organization `o` has not signed in again in time. */
export const IS_RE_SIGN_IN_OVERDUE = `u.sso_session_over_at IS NOT NULL
  AND u.sso_session_over_at + make_interval(hours => o.re_sign_in_grace_hours) <= now()`;

/** Sign-ins that workers ask the issuers about. Serves all organizations: each row names its own. */
export class DueSsoSignInStore {
  /** Those that have waited longest first, in each organization. */
  ready(tx: Tx): Promise<ReadySsoSignIn[]> {
    return execute(tx, READY, []);
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
    return rows(
      tx,
      `WITH free AS (
         SELECT s.family_id, s.organization_id FROM sso_sign_ins s
         WHERE s.family_id = ANY ($1::uuid[]) AND s.check_due_at <= now() FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE sso_sign_ins s SET check_due_at = now() + make_interval(secs => $2)
       FROM free CROSS JOIN ${newestDataKey('free.organization_id')}, user_identities i, users u
       WHERE s.family_id = free.family_id AND i.id = s.identity_id AND u.id = s.user_id
       RETURNING s.family_id AS "familyId", s.organization_id AS "organizationId", i.provider_id AS "providerId",
         s.user_id AS "userId", u.email AS "userEmail", i.subject,
         s.sealed_data AS "sealedData", s.check_due_at::text AS lease, ${DATA_KEY}`,
      [familyIds, seconds],
    );
  }

  /**
   * Notes that the issuer is asked, which is to be committed before it is. A note that is there already is of a request whose
   * answer was lost. @returns null: the lease is over, and another worker asks
   */
  async ask(tx: Tx, { familyId, sealedData, lease }: LeasedSsoSignIn): Promise<AskedSsoSignIn | null> {
    const asked = await first<Pick<AskedSsoSignIn, 'askedAt' | 'isInDoubt'>>(
      tx,
      `WITH leased AS (
         SELECT family_id, asked_at FROM sso_sign_ins
         WHERE family_id = $1 AND sealed_data = $2::jsonb AND check_due_at = $3::timestamptz FOR NO KEY UPDATE)
       UPDATE sso_sign_ins s SET asked_at = clock_timestamp() FROM leased WHERE s.family_id = leased.family_id
       RETURNING s.asked_at::text AS "askedAt", leased.asked_at IS NOT NULL AS "isInDoubt"`,
      [familyId, JSON.stringify(sealedData), lease],
    );
    return asked && { familyId, sealedData, ...asked };
  }

  /**
   * Keeps what the issuer answered to a request. It may be repeated.
   * @param replacing the new refresh token; null: the one that was sent stays valid
   */
  async noteAnswer(
    tx: Tx,
    { familyId, sealedData, askedAt }: AskedSsoSignIn,
    replacing: Readonly<Record<string, string>> | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE sso_sign_ins SET sealed_data = coalesce($4::jsonb, sealed_data),
         asked_at = CASE WHEN asked_at = $3::timestamptz THEN NULL ELSE asked_at END
       WHERE family_id = $1 AND sealed_data = $2::jsonb`,
      [familyId, JSON.stringify(sealedData), askedAt, replacing && JSON.stringify(replacing)],
    );
  }

  /** The issuer vouched, and what it reported has been applied. */
  async recordVouched(tx: Tx, familyId: string): Promise<void> {
    await tx.query(
      `UPDATE sso_sign_ins SET checked_at = now(), check_due_at = now() + ${CHECKED_FOR} WHERE family_id = $1`,
      [familyId],
    );
  }

  /**
   * The issuer could not be asked: it is tried again, later the longer it has not answered.
   * @param answered a request that was refused for another reason than its token; null: there is none
   * @returns false: it has not vouched for the sign-in for as long as one without checks lasts
   */
  postpone(tx: Tx, familyId: string, answered: AskedSsoSignIn | null): Promise<boolean> {
    return touches(
      tx,
      `UPDATE sso_sign_ins SET check_due_at = now() + make_interval(secs =>
         least(${RETRY.most}, greatest(${RETRY.least}, extract(epoch FROM now() - checked_at - interval '10 minutes') / 4))),
         asked_at = CASE WHEN asked_at = $2::timestamptz THEN NULL ELSE asked_at END
       WHERE family_id = $1 AND checked_at > now() - interval '${UNCHECKED_FOR}' RETURNING family_id`,
      [familyId, answered?.askedAt ?? null],
    );
  }

  /** Whose access is to end. A user whose identity provider is disabled or gone cannot sign in again, and keeps it. */
  overdueReSignIns(tx: Tx): Promise<OverdueUser[]> {
    return rows(
      tx,
      `SELECT u.organization_id AS "organizationId", u.id, u.email, p.name AS "identityProvider"
       FROM users u JOIN organizations o ON o.id = u.organization_id CROSS JOIN LATERAL (
         SELECT p.name FROM user_identities i JOIN identity_providers p ON p.id = i.provider_id
         WHERE i.user_id = u.id AND p.is_enabled ORDER BY i.last_seen_at DESC LIMIT 1) p
       WHERE ${IS_RE_SIGN_IN_OVERDUE} ORDER BY u.sso_session_over_at LIMIT ${OVERDUE_BATCH_SIZE}`,
      [],
    );
  }
}
