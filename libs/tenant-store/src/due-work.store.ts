import {
  ENDS_AT,
  MAY_EXPIRE,
  STATIC_RULE_MAY_END,
  execute,
  type PreparedStatement,
  type Tx,
} from '#entities';
import { IS_BEHIND } from './audit/audit-chain.store';
import { IS_RE_SIGN_IN_OVERDUE } from './sso/due-sso-sign-in.store';
import { IS_READY } from './webhooks/webhook-delivery.store';

/** What one worker does for all, besides the sweep. */
export interface DueWork {
  readonly sealing: boolean;
  readonly keptAuditRecords: boolean;
  readonly keptRuleEvents: boolean;
  readonly overdueRules: boolean;
  readonly subscriptions: boolean;
  readonly credentials: boolean;
  readonly resources: boolean;
  readonly accountLists: boolean;
  readonly deletedOrganizations: boolean;
  readonly webhooks: boolean;
  readonly companySignIns: boolean;
  readonly accessRequests: boolean;
}

/** Prepared: it runs every two seconds, and planning it takes longer with each month of audit records. */
const DUE_WORK: PreparedStatement = {
  name: 'due-work',
  text: `SELECT ${IS_BEHIND} AS sealing,
      EXISTS (SELECT FROM unwritten_audit_records) AS "keptAuditRecords",
      EXISTS (SELECT FROM unwritten_rule_events) AS "keptRuleEvents",
      -- for EXISTS it would expect to meet one soon, and read all rules when there is none
      (SELECT count(*) FROM rules WHERE overdue_at IS NULL AND unwanted_since < now() - make_interval(secs => $1)
          AND state <> 'absent') > 0
        OR coalesce(least((SELECT min(${ENDS_AT}) FROM sessions WHERE status IN (${MAY_EXPIRE})),
            (SELECT min(expires_at) FROM static_ip_rules WHERE ${STATIC_RULE_MAY_END}))
          < now() - make_interval(secs => $1), false) AS "overdueRules",
      coalesce((SELECT min(least(current_period_end, grace_period_end)) FROM subscriptions
        WHERE status <> 'EXPIRED') <= now(), false) AS subscriptions,
      coalesce((SELECT min(check_due_at) FROM credentials WHERE deleted_at IS NULL) <= now(), false) AS credentials,
      coalesce((SELECT min(accounts_due_at) FROM credentials WHERE deleted_at IS NULL) <= now(), false) AS "accountLists",
      coalesce((SELECT min(verify_due_at) FROM resources WHERE deleted_at IS NULL) <= now(), false)
        OR EXISTS (SELECT FROM resources WHERE deleted_at IS NULL AND verify_due_at IS NULL
          AND last_verified_at <= now() - make_interval(mins => $2)) AS resources,
      EXISTS (SELECT FROM organizations WHERE deleted_at IS NOT NULL AND closed_at IS NULL) AS "deletedOrganizations",
      EXISTS (SELECT FROM webhooks w WHERE ${IS_READY}) AS webhooks,
      coalesce((SELECT min(check_due_at) FROM sso_sign_ins) <= now(), false) OR EXISTS (SELECT FROM users u
        JOIN organizations o ON o.id = u.organization_id WHERE ${IS_RE_SIGN_IN_OVERDUE}) AS "companySignIns",
      coalesce((SELECT min(due_at) FROM access_requests) <= now(), false) AS "accessRequests"`,
};

/** Serves all organizations. */
export class DueWorkStore {
  /**
   * One statement instead of one for each. Some due rows may be locked or lack an action: the pass that handles them decides.
   * @param overdueSeconds after which an unwanted rule is reported, also one that waits for a sweep
   * @param verifiedMinutes after which a resource is verified again
   */
  async find(tx: Tx, overdueSeconds: number, verifiedMinutes: number): Promise<DueWork> {
    const [found] = await execute<DueWork>(tx, DUE_WORK, [overdueSeconds, verifiedMinutes]);
    return found!;
  }
}
