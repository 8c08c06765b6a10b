import type { OrganizationId } from '#rules';
import type { WokenTargets } from '#engine-store/port';
import { AuditTrail, SYSTEM_ACTOR, type TenantStore, type Tx, touches } from '#entities';
import type { OffboardingStore } from '../organizations/offboarding.store';
import type { RoleStore } from '../roles/role.store';
import type { UserStore } from '../accounts/user.store';

/** A user whose groups an issuer has named. */
export interface GroupMember {
  readonly id: string;
  readonly email: string;
  readonly groups: readonly string[];
}

type ProviderName = { readonly id: string; readonly name: string };

/** What the groups make of a user, and what the user is. */
interface Mapped {
  /** null: administrators */
  readonly roleId: string | null;
  /** the pattern gives it, and no mapping of the provider names it */
  readonly byPattern: boolean;
  readonly isWanted: boolean;
  readonly isHeld: boolean;
}

/** SQL: the part under `*` of each group in `$4` that fits the pattern of the provider `p`; none without a pattern. */
const NAMED_BY_GROUPS = `ARRAY(SELECT substr(name, strpos(p.group_pattern, '*'), length(name) - length(p.group_pattern) + 1)
      FROM unnest($4::text[]) name WHERE length(name) >= length(p.group_pattern)
        AND starts_with(name, split_part(p.group_pattern, '*', 1))
        AND right(name, length(p.group_pattern) - strpos(p.group_pattern, '*')) = split_part(p.group_pattern, '*', 2))`;

/** Gives a user the roles that the groups at the issuer are mapped to, and takes the others of the mappings. */
export class GroupRolesStore implements TenantStore<GroupRolesStore> {
  private readonly audit = new AuditTrail();

  constructor(
    private readonly roles: RoleStore,
    private readonly users: UserStore,
    private readonly offboarding: OffboardingStore,
  ) {}

  /** Sessions with what no role allows any more are ended. @returns the targets to wake */
  async apply(
    tx: Tx,
    organization: OrganizationId,
    provider: ProviderName,
    member: GroupMember,
  ): Promise<WokenTargets[]> {
    const mapped = await this.listMapped(tx, organization, provider.id, member);
    for (const { roleId, ...role } of mapped.filter(({ isWanted, isHeld }) => isWanted !== isHeld)) {
      if (roleId === null) await this.administer(tx, organization, provider, member, role.isWanted);
      else await this.assign(tx, organization, provider, member, { ...role, roleId });
    }
    // those lost before, too: a session may have been started just then
    const lost = mapped.flatMap(({ roleId, isWanted }) => (roleId === null || isWanted ? [] : [roleId]));
    if (lost.length === 0) return [];
    return this.offboarding.endUngranted(tx, organization, member.id, lost);
  }

  private async assign(
    tx: Tx,
    organization: OrganizationId,
    provider: ProviderName,
    { id, email }: GroupMember,
    { roleId, isWanted, byPattern }: Pick<Mapped, 'isWanted' | 'byPattern'> & { readonly roleId: string },
  ): Promise<void> {
    const change = isWanted ? 'assign' : 'unassign';
    const outcome = await this.roles[change](tx, organization, roleId, { kind: 'user', id });
    if (outcome !== `${change}ed`) return;
    if (isWanted && byPattern)
      await tx.query(
        `UPDATE role_users SET given_by_provider_id = $4 WHERE organization_id = $1 AND role_id = $2 AND user_id = $3`,
        [organization, roleId, id, provider.id],
      );
    await this.audit.write(tx, organization, {
      ...SYSTEM_ACTOR,
      eventType: isWanted ? 'ROLE_USER_ASSIGNED' : 'ROLE_USER_UNASSIGNED',
      resourceType: 'ROLE',
      resourceId: roleId,
      resourceName: null,
      details: { userId: id, userEmail: email, identityProvider: provider.name },
    });
  }

  /**
   * Another pattern has other members: those of the former one stay as an administrator's (KEEP), or go, and with them the
   * sessions that no role allows any more.
   * @returns the targets to wake
   */
  async leavePattern(
    tx: Tx,
    organization: OrganizationId,
    provider: ProviderName,
    memberships: 'KEEP' | 'REMOVE',
  ): Promise<WokenTargets[]> {
    if (memberships === 'KEEP') {
      await tx.query(
        'UPDATE role_users SET given_by_provider_id = NULL WHERE organization_id = $1 AND given_by_provider_id = $2',
        [organization, provider.id],
      );
      return [];
    }
    const given = await tx.query<{ id: string; email: string; roleIds: string[] }[]>(
      `SELECT u.id, u.email, array_agg(m.role_id) AS "roleIds" FROM role_users m JOIN users u ON u.id = m.user_id
       WHERE m.organization_id = $1 AND m.given_by_provider_id = $2 GROUP BY u.id ORDER BY u.id`,
      [organization, provider.id],
    );
    const woken: WokenTargets[] = [];
    for (const { roleIds, ...user } of given) {
      for (const roleId of roleIds)
        await this.assign(
          tx,
          organization,
          provider,
          { ...user, groups: [] },
          { roleId, isWanted: false, byPattern: true },
        );
      woken.push(...(await this.offboarding.endUngranted(tx, organization, user.id, roleIds)));
    }
    return woken;
  }

  /** Whether the provider's pattern has given any user a role. */
  hasGiven(tx: Tx, organization: OrganizationId, providerId: string): Promise<boolean> {
    return touches(
      tx,
      'SELECT FROM role_users WHERE organization_id = $1 AND given_by_provider_id = $2 LIMIT 1',
      [organization, providerId],
    );
  }

  /** What the provider's mappings and its pattern name, and what the pattern has given before. */
  private listMapped(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    { id, groups }: GroupMember,
  ): Promise<Mapped[]> {
    return tx.query(
      `SELECT g.role_id AS "roleId", false AS "byPattern", bool_or(g.group_name = ANY ($4::text[])) AS "isWanted",
         CASE WHEN g.role_id IS NULL THEN u.is_org_admin
           ELSE EXISTS (SELECT FROM role_users m WHERE m.role_id = g.role_id AND m.user_id = u.id) END AS "isHeld"
       FROM group_mappings g JOIN users u ON u.organization_id = $1 AND u.id = $3 AND u.is_active
       WHERE g.organization_id = $1 AND g.provider_id = $2 GROUP BY g.role_id, u.id
       UNION ALL
       SELECT role.id, true, role.name = ANY (${NAMED_BY_GROUPS}), m.user_id IS NOT NULL
       FROM users u JOIN roles role ON role.organization_id = $1
       JOIN identity_providers p ON p.organization_id = $1 AND p.id = $2
       LEFT JOIN role_users m ON m.role_id = role.id AND m.user_id = u.id
       WHERE u.organization_id = $1 AND u.id = $3 AND u.is_active
         AND (m.given_by_provider_id = $2 OR role.name = ANY (${NAMED_BY_GROUPS}))
         AND NOT EXISTS (SELECT FROM group_mappings g WHERE g.provider_id = $2 AND g.role_id = role.id)
       ORDER BY 1`,
      [organization, providerId, id, groups],
    );
  }

  /** The recovery administrator and the last administrator stay. */
  private async administer(
    tx: Tx,
    organization: OrganizationId,
    provider: ProviderName,
    { id, email }: GroupMember,
    isOrgAdmin: boolean,
  ): Promise<void> {
    const { recoveryAdministratorId } = await this.users.lock(tx, organization);
    if (!isOrgAdmin && recoveryAdministratorId === id) return;
    if (!(await this.users.update(tx, organization, id, { isOrgAdmin }))) return;
    await this.audit.write(tx, organization, {
      ...SYSTEM_ACTOR,
      eventType: 'USER_UPDATED',
      resourceType: 'USER',
      resourceId: id,
      resourceName: email,
      details: {
        changed: { isOrgAdmin: { from: !isOrgAdmin, to: isOrgAdmin } },
        identityProvider: provider.name,
      },
    });
  }
}
