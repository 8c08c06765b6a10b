import { release, type WokenTargets } from '#engine-store/port';
import { type AuditActor, type TenantStore, Trial, type Tx, first, touches } from '#entities';
import type { OrganizationId } from '#rules';
import type { OffboardingStore } from './offboarding.store';
import type { StaticIpRuleStore } from '../resources/static-ip-rule.store';

/** Which lockdown: of the organization, or of one of its users; and the administrator who declares or lifts it. */
export interface LockdownOf {
  /** the id of the organization, or of the user */
  readonly subjectId: string;
  readonly adminId: string;
}

/** SQL: whether the user `other` administers the organization $1. */
const IS_ADMINISTRATOR = `other.organization_id = $1 AND other.is_org_admin AND other.is_active AND (other.sso_refused_at IS NULL
  OR other.id = (SELECT o.recovery_administrator_id FROM organizations o WHERE o.id = $1))`;
/** SQL: whether the user is not locked down. */
const isFree = (user: string): string => `NOT EXISTS (SELECT FROM lockdowns WHERE subject_id = ${user})`;
/** SQL: whom the lockdown `l` leaves to lift it: who administered when it was declared, and is not whom it concerns. */
const LIFTERS = `SELECT FROM users other WHERE ${IS_ADMINISTRATOR} AND other.id = ANY (l.administrator_ids) AND other.id <> l.subject_id`;

/** Organizations and users that start nothing. `limit_live_sessions` refuses the starts. */
export class LockdownStore implements TenantStore<LockdownStore> {
  constructor(
    private readonly offboarding: OffboardingStore,
    private readonly staticRules: StaticIpRuleStore,
  ) {}

  /**
   * Declares a lockdown, or adds the static IP rules to one, and ends what is open. A start either has locked its user
   * before, and its session is ended here, or it waits for that lock and is refused; one of a new user waits for the
   * organization.
   * @returns how much has ended, and the targets to wake; null: it would leave no administrator who could lift it
   */
  async declare(
    tx: Tx,
    organization: OrganizationId,
    { subjectId, adminId }: LockdownOf,
    { reason, staticRules }: { readonly reason: string; readonly staticRules: boolean },
    actor: AuditActor,
  ): Promise<{ sessions: number; closedRules: number; woken: WokenTargets[] } | null> {
    const userId = subjectId === organization ? null : subjectId;
    if (!Trial.current) await this.lockStarts(tx, organization, subjectId);
    const isDeclared = await touches(
      tx,
      `INSERT INTO lockdowns (organization_id, subject_id, declared_by, reason, static_rules, administrator_ids)
       SELECT $1, $2, $3, $4, $5, array_agg(other.id) FROM users other WHERE ${IS_ADMINISTRATOR} AND ${isFree('$3')}
       HAVING bool_or(other.id <> $2 AND ${isFree('other.id')})
       ON CONFLICT (subject_id) DO UPDATE SET static_rules = lockdowns.static_rules OR excluded.static_rules
       RETURNING subject_id`,
      [organization, subjectId, adminId, reason, staticRules],
    );
    if (!isDeclared) return null;
    if (userId !== null) await this.offboarding.withdraw(tx, organization, userId, actor);
    // all owners before any rule
    const sessionIds = await this.offboarding.endSessions(tx, organization, { userId }, actor, 'LOCKED_DOWN');
    const staticIpRuleIds = staticRules ? await this.staticRules.close(tx, organization) : [];
    const woken = [
      ...(await release(tx, 'LOCKED_DOWN', { sessionIds })),
      ...(await release(tx, 'LOCKED_DOWN', { staticIpRuleIds })),
    ];
    return { sessions: sessionIds.length, closedRules: staticIpRuleIds.length, woken };
  }

  private async lockStarts(tx: Tx, organization: OrganizationId, subjectId: string): Promise<void> {
    // a new user waits for FOR UPDATE, a start for none of a user: it may hold the request that is withdrawn
    await tx.query(
      `SELECT FROM organizations WHERE id = $1 FOR ${subjectId === organization ? 'UPDATE' : 'NO KEY UPDATE'}`,
      [organization],
    );
    await tx.query(
      'SELECT FROM users WHERE organization_id = $1 AND $2::uuid IN ($1, id) ORDER BY id FOR NO KEY UPDATE',
      [organization, subjectId],
    );
  }

  /** Whether there is a lockdown that only this user is left to lift. Call `UserStore.lock` first. */
  waitsFor(tx: Tx, organization: OrganizationId, userId: string): Promise<boolean> {
    return touches(
      tx,
      `SELECT FROM lockdowns l WHERE l.organization_id = $1 AND EXISTS (${LIFTERS} AND other.id = $2)
         AND NOT EXISTS (${LIFTERS} AND other.id <> $2)`,
      [organization, userId],
    );
  }

  /** Whether there is one. */
  exists(tx: Tx, organization: OrganizationId, subjectId: string): Promise<boolean> {
    return touches(tx, 'SELECT FROM lockdowns WHERE organization_id = $1 AND subject_id = $2', [
      organization,
      subjectId,
    ]);
  }

  /**
   * Call `UserStore.lock` first, which administrators' changes wait for. It is lifted by an administrator from before it was
   * declared, whom it does not concern; by the one who declared it only where no other could. Where none of those is left,
   * any administrator lifts it.
   * @returns whether static IP rules were closed; null: there is none, or this administrator may not lift it
   */
  lift(
    tx: Tx,
    organization: OrganizationId,
    { subjectId, adminId }: LockdownOf,
  ): Promise<{ staticRules: boolean } | null> {
    return first(
      tx,
      `DELETE FROM lockdowns l WHERE l.organization_id = $1 AND l.subject_id = $2 AND l.subject_id <> $3
         AND ${isFree('$3')} AND CASE WHEN $3 = ANY (l.administrator_ids)
           THEN l.declared_by <> $3 OR NOT EXISTS (${LIFTERS} AND other.id <> $3 AND ${isFree('other.id')})
           ELSE NOT EXISTS (${LIFTERS}) END
       RETURNING l.static_rules AS "staticRules"`,
      [organization, subjectId, adminId],
    );
  }
}
