import type { OrganizationId } from '#rules';
import type { WokenTargets } from '#engine-store/port';
import { AuditTrail, SYSTEM_ACTOR, type TenantStore, type Tx, first } from '#entities';
import { OffboardingStore } from './offboarding.store';
import { RoleStore } from './role.store';
import { UserStore } from './user.store';

/** Somebody whose groups an issuer has named. */
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
  readonly isWanted: boolean;
  readonly isHeld: boolean;
}

/** Gives a user the roles that the groups at the issuer are mapped to, and takes the others of the mappings. */
export class GroupRolesStore implements TenantStore<GroupRolesStore> {
  private readonly audit = new AuditTrail();
  private readonly roles = new RoleStore();
  private readonly users = new UserStore();
  private readonly offboarding = new OffboardingStore();

  /** Sessions with what no role allows any more are ended. @returns the targets to wake */
  async apply(
    tx: Tx,
    organization: OrganizationId,
    provider: ProviderName,
    member: GroupMember,
  ): Promise<WokenTargets[]> {
    const mapped = await this.mapped(tx, organization, provider.id, member);
    for (const { roleId, isWanted } of mapped.filter((role) => role.isWanted !== role.isHeld)) {
      if (roleId === null) await this.administer(tx, organization, provider, member, isWanted);
      else await this.assign(tx, organization, provider, member, roleId, isWanted);
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
    roleId: string,
    isWanted: boolean,
  ): Promise<void> {
    const change = isWanted ? 'assign' : 'unassign';
    const outcome = await this.roles[change](tx, organization, roleId, { kind: 'user', id });
    if (outcome !== `${change}ed`) return;
    await this.audit.write(tx, organization, {
      ...SYSTEM_ACTOR,
      eventType: isWanted ? 'ROLE_USER_ASSIGNED' : 'ROLE_USER_UNASSIGNED',
      resourceType: 'ROLE',
      resourceId: roleId,
      resourceName: null,
      details: { userId: id, userEmail: email, identityProvider: provider.name },
    });
  }

  /** What the provider's mappings name. */
  private mapped(
    tx: Tx,
    organization: OrganizationId,
    providerId: string,
    { id, groups }: GroupMember,
  ): Promise<Mapped[]> {
    return tx.query(
      `SELECT g.role_id AS "roleId", bool_or(g.group_name = ANY ($4::text[])) AS "isWanted",
         CASE WHEN g.role_id IS NULL THEN u.is_org_admin
           ELSE EXISTS (SELECT FROM role_users m WHERE m.role_id = g.role_id AND m.user_id = u.id) END AS "isHeld"
       FROM group_mappings g JOIN users u ON u.organization_id = $1 AND u.id = $3 AND u.is_active
       WHERE g.organization_id = $1 AND g.provider_id = $2 GROUP BY g.role_id, u.id ORDER BY g.role_id`,
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
    await this.users.lock(tx, organization);
    const recovery = await first<{ id: string | null }>(
      tx,
      'SELECT recovery_administrator_id AS id FROM organizations WHERE id = $1',
      [organization],
    );
    if (!isOrgAdmin && recovery?.id === id) return;
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
