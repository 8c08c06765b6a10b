import { randomBytes } from 'node:crypto';
import { asOrganizationId, type CallerAccount, type OrganizationId } from '#rules';
import { lockdownOf } from '../organizations/lockdown-sql';
import { ENDS_AT, UNFINISHED, type PreparedStatement, type Tx, first, execute, touches } from '#entities';

/** The principal of a request, read for each request. */
export interface PrincipalRow extends CallerAccount {
  readonly scopes: readonly string[];
  /** `used`: an identity provider vouches for the sign-in. `missing`: it must, and does not. null: it need not */
  readonly companySignIn: 'used' | 'missing' | null;
}

export interface UserProfileRow {
  readonly lastLoginAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly roleNames: string[];
}

/** An account with a given e-mail. */
export interface LoginCandidate {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly organizationName: string;
  readonly organizationSlug: string;
  readonly passwordHash: string | null;
  readonly isActive: boolean;
}

/** What a sign-in needs besides the right password. */
export interface SignInRequirements {
  readonly mfaRequired: boolean;
  readonly passwordExpired: boolean;
  /** a password is not enough */
  readonly companySignInRequired: boolean;
}

const PRINCIPAL_COLUMNS = `
  u.id AS "userId", u.organization_id AS "organizationId", u.email, u.name, u.is_org_admin AS "isOrgAdmin",
  u.platform_role AS "platformRole", u.mfa_enabled AS "mfaEnabled", o.name AS "organizationName", o.slug AS "organizationSlug",
  o.subscription_tier AS tier, o.suspended_at IS NOT NULL AS suspended,
  ${lockdownOf('o.id, u.id')} AS lockdown, o.require_detected_address AS "requireDetectedAddress",
  o.max_resources_per_session AS "maxResourcesPerSession"`;

/** SQL: what the issuer says does not concern the recovery administrator, who must be able to sign in without it. */
const IS_RECOVERY = 'u.id IS NOT DISTINCT FROM o.recovery_administrator_id';

const userPrincipal = (companySignIn: string): string =>
  `SELECT 'user' AS kind, ${PRINCIPAL_COLUMNS}, NULL AS "keyId", NULL AS "keyName",
     NULL AS "sessionId", '{}'::text[] AS scopes, ${companySignIn} AS "companySignIn"
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.id = $1 AND u.organization_id = $2 AND u.is_active`;

const USER_PRINCIPAL: PreparedStatement = { name: 'user-principal', text: userPrincipal('NULL') };

const SIGN_IN_PRINCIPAL: PreparedStatement = {
  name: 'sign-in-principal',
  text: `${userPrincipal(`CASE WHEN EXISTS (SELECT FROM sso_sign_ins s WHERE s.family_id = $3) THEN 'used'
       WHEN o.sso_required AND NOT ${IS_RECOVERY} THEN 'missing' END`)}
       AND (u.sso_refused_at IS NULL OR ${IS_RECOVERY}) AND EXISTS (
         SELECT FROM refresh_tokens t WHERE t.family_id = $3 AND t.user_id = u.id AND t.revoked_at IS NULL)`,
};

/** SQL: the API key `k` is neither revoked nor expired. */
export const IS_VALID_KEY = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())';

/** SQL: the API key, unless it is revoked or expired. */
export const validKey = (organization: string, id: string): string =>
  `SELECT FROM api_keys k WHERE k.organization_id = ${organization} AND k.id = ${id} AND ${IS_VALID_KEY}`;

const IS_UNRECORDED = `(k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')`;

const KEY_PRINCIPAL: PreparedStatement = {
  name: 'key-principal',
  text: `SELECT 'key' AS kind, ${PRINCIPAL_COLUMNS}, k.id AS "keyId", k.name AS "keyName", NULL AS "sessionId", k.scopes,
         NULL AS "companySignIn", ${IS_UNRECORDED} AS unrecorded
       FROM api_keys k
       JOIN users u ON u.organization_id = k.organization_id AND u.id = k.user_id
       JOIN organizations o ON o.id = u.organization_id
       WHERE k.key_hash = $1 AND ${IS_VALID_KEY} AND u.is_active AND u.sso_refused_at IS NULL`,
};

const WORKLOAD_PRINCIPAL: PreparedStatement = {
  name: 'workload-principal',
  text: `SELECT 'workload' AS kind, ${PRINCIPAL_COLUMNS}, NULL AS "keyId", NULL AS "keyName", NULL AS "sessionId", t.scopes,
         NULL AS "companySignIn"
       FROM oidc_trusts t
       JOIN users u ON u.organization_id = t.organization_id AND u.id = t.service_user_id
       JOIN organizations o ON o.id = u.organization_id
       WHERE t.id = $1 AND t.organization_id = $2 AND t.service_user_id = $3 AND t.revision = $4 AND t.is_enabled
         AND u.is_active AND u.is_service`,
};

/** Valid until every rule is removed: the job that stops its session can wait for that. With FAILED until its end. */
const SESSION_PRINCIPAL: PreparedStatement = {
  name: 'session-principal',
  text: `SELECT 'session' AS kind, ${PRINCIPAL_COLUMNS}, NULL AS "keyId", NULL AS "keyName", s.id AS "sessionId",
         '{}'::text[] AS scopes, NULL AS "companySignIn"
       FROM sessions s
       JOIN users u ON u.organization_id = s.organization_id AND u.id = s.user_id
       JOIN organizations o ON o.id = u.organization_id
       WHERE s.token_hash = $1 AND u.is_active AND u.sso_refused_at IS NULL
         AND (s.status IN (${UNFINISHED}) OR (s.status = 'FAILED' AND ${ENDS_AT} > clock_timestamp()))
         AND (s.api_key_id IS NULL OR EXISTS (${validKey('s.organization_id', 's.api_key_id')}))`,
};

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 48) || 'organization';

/** Accounts before authentication: registration, sign-in, resolving principals. */
export class AccountStore {
  /** Of who signs in: what the issuer reported before does not count. @returns null when the user is gone or inactive */
  principalOfUser(tx: Tx, userId: string, organizationId: string): Promise<PrincipalRow | null> {
    return first(tx, USER_PRINCIPAL, [userId, organizationId]);
  }

  /**
   * As `principalOfUser`, for an access token.
   * @param signInId the family of refresh tokens it was issued with
   * @returns null also when that sign-in has ended (sign-out, password change elsewhere, stolen token), and while the issuer
   *   refuses the user
   */
  principalOfSignIn(
    tx: Tx,
    userId: string,
    organizationId: string,
    signInId: string,
  ): Promise<PrincipalRow | null> {
    return first(tx, SIGN_IN_PRINCIPAL, [userId, organizationId, signInId]);
  }

  /** An account's profile besides the principal. @returns null when it is deleted */
  profileOfUser(tx: Tx, userId: string, organizationId: OrganizationId): Promise<UserProfileRow | null> {
    return first(
      tx,
      `SELECT u.last_login_at AS "lastLoginAt", u.created_at AS "createdAt", u.updated_at AS "updatedAt",
         ARRAY(SELECT r.name FROM role_users m JOIN roles r ON r.id = m.role_id
           WHERE m.user_id = u.id ORDER BY r.name) AS "roleNames"
       FROM users u WHERE u.id = $1 AND u.organization_id = $2`,
      [userId, organizationId],
    );
  }

  /**
   * Records the key's use, at most once a minute: a commit per request would cost more than the request.
   * @returns null when the key is unknown, revoked or expired, or its user inactive
   */
  async principalOfKey(tx: Tx, keyHash: string, callerAddress: string | null): Promise<PrincipalRow | null> {
    const [row] = await execute<PrincipalRow & { unrecorded: boolean }>(tx, KEY_PRINCIPAL, [keyHash]);
    if (!row) return null;
    const { unrecorded, ...principal } = row;
    if (unrecorded) {
      // of many at once, one records it, and none waits for it
      await tx.query(
        `UPDATE api_keys SET last_used_at = now(), last_used_ip = $2 WHERE id = (
           SELECT k.id FROM api_keys k WHERE k.id = $1 AND ${IS_UNRECORDED} FOR NO KEY UPDATE SKIP LOCKED)`,
        [principal.keyId, callerAddress],
      );
    }
    return principal;
  }

  /**
   * @param revision of the trust when the token was issued
   * @returns null when the trust is disabled, changed or deleted, or its service user inactive
   */
  principalOfWorkload(
    tx: Tx,
    trustId: string,
    organizationId: string,
    userId: string,
    revision: number,
  ): Promise<PrincipalRow | null> {
    const given = [trustId, organizationId, userId, revision];
    return first(tx, WORKLOAD_PRINCIPAL, given);
  }

  /** @returns null when the session is over, its user is inactive, or the key that started it is revoked or expired */
  principalOfSession(tx: Tx, tokenHash: string): Promise<PrincipalRow | null> {
    return first(tx, SESSION_PRINCIPAL, [tokenHash]);
  }

  /** Whether there never was an organization. */
  isEmpty(tx: Tx): Promise<boolean> {
    return touches(tx, 'SELECT WHERE NOT EXISTS (SELECT FROM organizations)');
  }

  /** As `isEmpty`, and until the commit no other call creates one: concurrent calls wait for each other. */
  async isEmptyAndLocked(tx: Tx): Promise<boolean> {
    await tx.query('LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE');
    return this.isEmpty(tx);
  }

  /** Creates an organization with a unique slug, and its admin. Without a password the admin is invited. */
  async registerOrganization(
    tx: Tx,
    account: { organizationName: string; email: string; passwordHash: string | null; name: string },
  ): Promise<{ userId: string; organizationId: OrganizationId }> {
    const organizationId = await this.insertOrganization(tx, account.organizationName);
    const [user] = await tx.query<{ id: string }[]>(
      `INSERT INTO users (organization_id, email, name, password_hash, is_org_admin)
       VALUES ($1, $2, $3, $4, true) RETURNING id`,
      [organizationId, account.email, account.name, account.passwordHash],
    );
    return { userId: user!.id, organizationId: asOrganizationId(organizationId) };
  }

  private async insertOrganization(tx: Tx, name: string): Promise<string> {
    const desired = slugOf(name);
    for (let slug = desired; ; slug = `${desired}-${randomBytes(3).toString('hex')}`) {
      const [row] = await tx.query<{ id: string }[]>(
        'INSERT INTO organizations (name, slug) VALUES ($1, $2) ON CONFLICT (slug) DO NOTHING RETURNING id',
        [name, slug],
      );
      if (row) return row.id;
    }
  }

  /**
   * Every account with an e-mail, one per organization. Active accounts with a password first, then by age. Service
   * users are left out.
   */
  loginCandidates(tx: Tx, email: string, organizationSlug: string | null): Promise<LoginCandidate[]> {
    return tx.query(
      `SELECT u.id AS "userId", u.organization_id AS "organizationId", u.email, o.name AS "organizationName",
         o.slug AS "organizationSlug", u.password_hash AS "passwordHash", u.is_active AS "isActive"
       FROM users u JOIN organizations o ON o.id = u.organization_id
       WHERE u.email = $1 AND u.deleted_at IS NULL AND NOT u.is_service AND ($2::text IS NULL OR o.slug = $2)
       ORDER BY u.is_active AND u.password_hash IS NOT NULL DESC, u.created_at`,
      [email, organizationSlug],
    );
  }

  /** The organization's current requirements for a sign-in. @returns null when the user is gone */
  signInRequirements(tx: Tx, userId: string, organizationId: string): Promise<SignInRequirements | null> {
    return first(
      tx,
      `SELECT o.mfa_required AS "mfaRequired", o.password_expiration_days IS NOT NULL
           AND u.password_changed_at <= now() - make_interval(days => o.password_expiration_days) AS "passwordExpired",
         (o.sso_required OR u.sso_refused_at IS NOT NULL) AND NOT ${IS_RECOVERY} AS "companySignInRequired"
       FROM users u JOIN organizations o ON o.id = u.organization_id WHERE u.id = $1 AND u.organization_id = $2`,
      [userId, organizationId],
    );
  }

  async recordLogin(tx: Tx, userId: string): Promise<void> {
    await tx.query('UPDATE users SET last_login_at = now() WHERE id = $1', [userId]);
  }
}
