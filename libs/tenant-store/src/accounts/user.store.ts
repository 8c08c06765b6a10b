import { TIER_LIMITS, type Lockdown, type OrganizationId, type Tier, type TierOf } from '#rules';
import {
  type NoticeSwitch,
  type ListDefinition,
  type TenantStore,
  type Tx,
  type UserEntity,
  choiceFilter,
  countOf,
  first,
  flagFilter,
  idFilter,
  rows,
  touches,
} from '#entities';
import { ListedStore } from '../listed-store';
import { lockdownOf } from '../organizations/lockdown-sql';
import { IS_LOCKED } from './sign-in-failure.store';

export const USER_STATUSES = ['INVITED', 'ACTIVE', 'INACTIVE', 'LOCKED'] as const;
/** INVITED: has not signed in yet. INACTIVE: or refused by the issuer. LOCKED: sign-ins are temporarily refused after too many failures. */
export type UserStatus = (typeof USER_STATUSES)[number];

export interface UserRow extends Readonly<
  Omit<
    UserEntity,
    | 'organizationId'
    | 'passwordHash'
    | 'passwordChangedAt'
    | 'mfaSealedSecret'
    | 'mfaLastStep'
    | 'noticesOff'
    | 'ssoRefusedAt'
    | 'ssoSessionOverAt'
    | 'deletedAt'
  >
> {
  readonly status: UserStatus;
  readonly lockdown: Lockdown | null;
  readonly roleNames: string[];
  /** names of those that it signs in by */
  readonly identityProviders: string[];
}

/** Without a passwordHash, the user sets one by invitation. */
export type NewUser = Pick<UserEntity, 'email' | 'name' | 'isOrgAdmin' | 'passwordHash'>;

/** undefined: unchanged */
export type UserChanges = {
  readonly [Name in 'name' | 'isOrgAdmin' | 'isActive']?: UserRow[Name] | undefined;
};

/** SQL, for the user `u`. */
export const STATUS = `CASE WHEN NOT u.is_active OR u.sso_refused_at IS NOT NULL THEN 'INACTIVE' WHEN u.is_service THEN 'ACTIVE'
  WHEN u.password_hash IS NULL AND NOT EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id) THEN 'INVITED' WHEN ${IS_LOCKED} THEN 'LOCKED' ELSE 'ACTIVE' END`;

const SELECT = `SELECT u.id, u.email, u.name, u.is_service AS "isService", u.is_org_admin AS "isOrgAdmin",
    u.platform_role AS "platformRole", u.is_active AS "isActive", ${STATUS} AS status, u.invited_at AS "invitedAt",
    u.mfa_enabled AS "mfaEnabled", u.last_login_at AS "lastLoginAt",
    ${lockdownOf('u.id')} AS lockdown, ARRAY(SELECT r.name FROM role_users m JOIN roles r ON r.id = m.role_id
      WHERE m.user_id = u.id ORDER BY r.name) AS "roleNames",
    ARRAY(SELECT DISTINCT p.name FROM user_identities i JOIN identity_providers p ON p.id = i.provider_id
      WHERE i.user_id = u.id ORDER BY p.name) AS "identityProviders",
    u.created_at AS "createdAt", u.updated_at AS "updatedAt"
  FROM users u WHERE u.organization_id = $1 AND u.deleted_at IS NULL`;

export const USER_LIST: ListDefinition = {
  list: SELECT,
  id: 'u.id',
  search: ['u.name', 'u.email'],
  sort: { name: 'u.name', email: 'u.email', createdAt: 'u.created_at', lastLoginAt: 'u.last_login_at' },
  order: '-createdAt',
  filters: {
    roleId: idFilter('EXISTS (SELECT FROM role_users m WHERE m.user_id = u.id AND m.role_id = ?)'),
    isActive: flagFilter('u.is_active = ?'),
    isService: flagFilter('u.is_service = ?'),
    status: choiceFilter(STATUS, USER_STATUSES, 'UserStatus'),
    mfaEnabled: flagFilter('u.mfa_enabled = ?'),
    isOrgAdmin: flagFilter('u.is_org_admin = ?'),
    lockedDown: flagFilter('EXISTS (SELECT FROM lockdowns l WHERE l.subject_id = u.id) = ?'),
  },
};

/** SQL: whether another active admin than user $2 exists; race-free only under `lock`. */
const OTHER_ADMIN = `EXISTS (SELECT FROM users other
  WHERE other.organization_id = $1 AND other.id <> $2 AND other.is_org_admin AND other.is_active)`;

/** SQL: the SET clause for a deleted user, whose row is kept for the names in old sessions. */
const DELETED = `deleted_at = now(), is_active = false, password_hash = NULL, mfa_enabled = false,
  mfa_sealed_secret = NULL, updated_at = now()`;

/** An organization's users. All methods ignore deleted ones. */
export class UserStore extends ListedStore<UserRow> implements TenantStore<UserStore> {
  protected readonly definition = USER_LIST;

  /** Serializes transactions that count the organization's users or admins, or choose its recovery administrator. */
  async lock(
    tx: Tx,
    organization: OrganizationId,
  ): Promise<{ tier: Tier; recoveryAdministratorId: string | null }> {
    const [owner] = await tx.query<{ tier: Tier; recoveryAdministratorId: string | null }[]>(
      `SELECT subscription_tier AS tier, recovery_administrator_id AS "recoveryAdministratorId"
       FROM organizations WHERE id = $1 FOR NO KEY UPDATE`,
      [organization],
    );
    return owner!;
  }

  /** Whether a user can sign in with a password and a second factor, and administer. Call `lock` first. */
  mayRecover(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(
      tx,
      `SELECT FROM users WHERE organization_id = $1 AND id = $2 AND is_org_admin AND is_active AND mfa_enabled
         AND password_hash IS NOT NULL`,
      [organization, id],
    );
  }

  /** Takes the lock. @returns false when the tier's maximum is reached; service users do not count */
  async hasRoom(tx: Tx, organization: OrganizationId, tierOf: TierOf): Promise<boolean> {
    const { tier } = await this.lock(tx, organization);
    const limit = TIER_LIMITS[tierOf(tier)].users;
    if (limit === null) return true;
    const used = 'users WHERE organization_id = $1 AND deleted_at IS NULL AND NOT is_service';
    return (await countOf(tx, used, [organization])) < limit;
  }

  /** @returns the new user's id, null when the e-mail is taken */
  async create(tx: Tx, organization: OrganizationId, user: NewUser): Promise<string | null> {
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO users (organization_id, email, name, is_org_admin, password_hash) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (organization_id, email) WHERE deleted_at IS NULL DO NOTHING RETURNING id`,
      [organization, user.email, user.name, user.isOrgAdmin, user.passwordHash],
    );
    return created?.id ?? null;
  }

  /** A user for programs. @returns its id, null when the e-mail is taken */
  async createService(
    tx: Tx,
    organization: OrganizationId,
    user: Pick<NewUser, 'email' | 'name'>,
  ): Promise<string | null> {
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO users (organization_id, email, name, is_service) VALUES ($1, $2, $3, true)
       ON CONFLICT (organization_id, email) WHERE deleted_at IS NULL DO NOTHING RETURNING id`,
      [organization, user.email, user.name],
    );
    return created?.id ?? null;
  }

  /** Records the invitation of a user without a password. @returns false when there is no such active user */
  recordInvitation(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET invited_at = now() WHERE organization_id = $1 AND id = $2 AND is_active AND NOT is_service
         AND password_hash IS NULL AND last_login_at IS NULL RETURNING id`,
      [organization, id],
    );
  }

  /** Locks existing roles against deletion until the commit. @returns the ids that do not exist */
  async missingRoles(tx: Tx, organization: OrganizationId, roleIds: readonly string[]): Promise<string[]> {
    const found = await tx.query<{ id: string }[]>(
      'SELECT id FROM roles WHERE organization_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR KEY SHARE',
      [organization, roleIds],
    );
    return roleIds.filter((id) => !found.some((role) => role.id === id.toLowerCase()));
  }

  async giveRoles(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    roleIds: readonly string[],
  ): Promise<void> {
    await tx.query(
      `INSERT INTO role_users (organization_id, role_id, user_id)
       SELECT organization_id, id, $2 FROM roles WHERE organization_id = $1 AND id = ANY ($3::uuid[])`,
      [organization, id, roleIds],
    );
  }

  /** Call `lock` first. @returns false when there is no such user, or the change would remove the last active admin */
  update(tx: Tx, organization: OrganizationId, id: string, changes: UserChanges): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET name = coalesce($3, name), is_org_admin = coalesce($4, is_org_admin),
         is_active = coalesce($5, is_active), updated_at = now(),
         sso_refused_at = CASE WHEN $5 AND NOT is_active THEN NULL ELSE sso_refused_at END,
         sso_session_over_at = CASE WHEN $5 AND NOT is_active THEN NULL ELSE sso_session_over_at END
       WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
         AND (NOT (is_org_admin AND is_active) OR coalesce($4, true) AND coalesce($5, true) OR ${OTHER_ADMIN})
       RETURNING id`,
      [organization, id, changes.name ?? null, changes.isOrgAdmin ?? null, changes.isActive ?? null],
    );
  }

  /** What the user wants no mail about. */
  async noticesOff(tx: Tx, organization: OrganizationId, id: string): Promise<NoticeSwitch[]> {
    const user = await first<Pick<UserEntity, 'noticesOff'>>(
      tx,
      'SELECT notices_off AS "noticesOff" FROM users WHERE organization_id = $1 AND id = $2',
      [organization, id],
    );
    return user!.noticesOff;
  }

  /** @returns what the user wants no mail about from now on */
  async switchNotices(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    { on, off }: Readonly<Record<'on' | 'off', readonly NoticeSwitch[]>>,
  ): Promise<NoticeSwitch[]> {
    const user = await first<Pick<UserEntity, 'noticesOff'>>(
      tx,
      `UPDATE users SET notices_off = ARRAY(
         SELECT unnest(notices_off || $4::text[]) EXCEPT SELECT unnest($3::text[]) ORDER BY 1)
       WHERE organization_id = $1 AND id = $2 RETURNING notices_off AS "noticesOff"`,
      [organization, id, on, off],
    );
    return user!.noticesOff;
  }

  /**
   * Call `lock` first. The row is kept for the names in old sessions, without its credentials.
   * @returns false when there is no such user, or it is the last active admin
   */
  delete(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET ${DELETED}
       WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
         AND (NOT (is_org_admin AND is_active) OR ${OTHER_ADMIN})
       RETURNING id`,
      [organization, id],
    );
  }

  /** Deletes everybody, with the organization. @param kept a service user that stays; null: none @returns their ids */
  async deleteAll(tx: Tx, organization: OrganizationId, kept: string | null): Promise<string[]> {
    const deleted = await rows<{ id: string }>(
      tx,
      `UPDATE users SET ${DELETED} WHERE organization_id = $1 AND deleted_at IS NULL AND id IS DISTINCT FROM $2 RETURNING id`,
      [organization, kept],
    );
    return deleted.map(({ id }) => id);
  }
}
