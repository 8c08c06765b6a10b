import { release, type WokenTargets } from '#engine-store/port';
import { type AuditActor, type TenantStore, type Tx, first, touches } from '#entities';
import type { OrganizationId } from '#rules';
import { OffboardingStore } from './offboarding.store';
import { StaticIpRuleStore } from './static-ip-rule.store';

/** Which lockdown: of the organization, or of one of its users; and the administrator who declares or lifts it. */
export interface LockdownOf {
  /** the id of the organization, or of the user */
  readonly subjectId: string;
  readonly adminId: string;
}

/** SQL: active administrators besides $3 who are not locked down themselves. */
const OTHERS = `SELECT FROM users other WHERE other.organization_id = $1 AND other.id <> $3
  AND other.is_org_admin AND other.is_active AND NOT EXISTS (SELECT FROM lockdowns WHERE subject_id = other.id)`;

/** Organizations and users that start nothing. `limit_live_sessions` refuses the starts. */
export class LockdownStore implements TenantStore<LockdownStore> {
  private readonly offboarding = new OffboardingStore();
  private readonly staticRules = new StaticIpRuleStore();

  /**
   * Declares a lockdown, or adds the static IP rules to one, and ends what is open. A start either has locked its user
   * before, and its session is ended here, or it waits for that lock and is refused; one of a new user waits for the
   * organization.
   * @returns how much has ended, and the targets to wake
   */
  async declare(
    tx: Tx,
    organization: OrganizationId,
    { subjectId, adminId }: LockdownOf,
    { reason, staticRules }: { readonly reason: string; readonly staticRules: boolean },
    actor: AuditActor,
  ): Promise<{ sessions: number; closedRules: number; woken: WokenTargets[] }> {
    await tx.query('SELECT FROM organizations WHERE id = $1 FOR UPDATE', [organization]);
    await tx.query(
      'SELECT FROM users WHERE organization_id = $1 AND $2::uuid IN ($1, id) ORDER BY id FOR NO KEY UPDATE',
      [organization, subjectId],
    );
    await tx.query(
      `INSERT INTO lockdowns (organization_id, subject_id, declared_by, reason, static_rules) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (subject_id) DO UPDATE SET static_rules = lockdowns.static_rules OR excluded.static_rules`,
      [organization, subjectId, adminId, reason, staticRules],
    );
    const userId = subjectId === organization ? null : subjectId;
    // all owners before any rule
    const sessionIds = await this.offboarding.endSessions(tx, organization, { userId }, actor, 'LOCKED_DOWN');
    const staticIpRuleIds = staticRules ? await this.staticRules.close(tx, organization) : [];
    const woken = [
      ...(await release(tx, 'LOCKED_DOWN', { sessionIds })),
      ...(await release(tx, 'LOCKED_DOWN', { staticIpRuleIds })),
    ];
    return { sessions: sessionIds.length, closedRules: staticIpRuleIds.length, woken };
  }

  /** Whether there is one. */
  exists(tx: Tx, organization: OrganizationId, subjectId: string): Promise<boolean> {
    return touches(tx, 'SELECT FROM lockdowns WHERE organization_id = $1 AND subject_id = $2', [
      organization,
      subjectId,
    ]);
  }

  /**
   * Call `UserStore.lock` first, which administrators' changes wait for. The administrator who declared it, or is locked
   * down, lifts it only where no other administrator could.
   * @returns whether static IP rules were closed; null: there is none, or this administrator may not lift it
   */
  lift(
    tx: Tx,
    organization: OrganizationId,
    { subjectId, adminId }: LockdownOf,
  ): Promise<{ staticRules: boolean } | null> {
    return first<{ staticRules: boolean }>(
      tx,
      `DELETE FROM lockdowns l WHERE l.organization_id = $1 AND l.subject_id = $2
         AND (NOT EXISTS (${OTHERS})
           OR l.declared_by <> $3 AND NOT EXISTS (SELECT FROM lockdowns own WHERE own.subject_id = $3))
       RETURNING l.static_rules AS "staticRules"`,
      [organization, subjectId, adminId],
    );
  }
}
