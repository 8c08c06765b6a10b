import type { AccessInterval } from '#rules';
import type { LedgerRow } from './ledger.store';

/** What is hidden, or shown in another form. */
type HiddenFields =
  | keyof AccessInterval
  | 'ruleId'
  | 'targetId'
  | 'target'
  | 'organizationId'
  | 'userId'
  | 'workerId'
  | 'passId';

/** One row of the ledger as tenants see it: an event of a rule, for one of its holders or for none. */
export interface RuleEventRow extends Omit<LedgerRow, HiddenFields>, AccessInterval {
  /** a UUID */
  readonly id: string;
  /** null: the target's row is deleted */
  readonly resourceType: string | null;
  readonly identifier: string;
  readonly workerId: string | null;
  readonly passId: string | null;
}

/** Collects the parameters of a dynamic statement. */
export class Parameters {
  readonly values: unknown[] = [];

  /** @returns the placeholder */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/**
 * SQL: an identifier of the event `e`, of the form of a random UUID. Its number counts the events of all organizations, and the
 * target's id, which no answer shows, hides it.
 */
const EVENT_ID = `overlay(overlay(md5(e.target_id::text || e.id::text) PLACING '4' FROM 13) PLACING 'a' FROM 17)::uuid`;

/**
 * A page of the ledger, newest first. Each part is read in index order, up to the end of the page. The credential and the
 * provider's message are hidden when the credential belongs to another organization.
 * @param parts conditions on `rule_events e`, one per index
 */
export function eventPage(
  organization: string,
  parts: readonly string[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): string {
  const read = parts.map(
    (condition) =>
      `(SELECT e.* FROM rule_events e WHERE ${condition} ORDER BY e.at DESC, e.id DESC LIMIT ${offset + limit})`,
  );
  return `SELECT ${EVENT_ID} AS id, e.kind, e.at, e.provider, t.resource_type AS "resourceType", e.target AS identifier, e.address,
      e.protocol, e.ports, e.provider_rule_id AS "providerRuleId", e.cause,
      CASE WHEN other.id IS NULL THEN e.message END AS message, e.possible_from AS "possibleFrom",
      e.certain_from AS "certainFrom", e.certain_until AS "certainUntil", e.possible_until AS "possibleUntil",
      e.holder_kind AS "holderKind", e.resource_id AS "resourceId", e.resource_name AS "resourceName",
      e.session_id AS "sessionId", e.static_ip_rule_id AS "staticIpRuleId", e.user_email AS "userEmail",
      CASE WHEN other.id IS NULL THEN coalesce(one.parent_id, e.credential_id) END AS "credentialId", e.worker_id AS "workerId",
      e.pass_id AS "passId"
    FROM (SELECT * FROM (${read.join(' UNION ALL ')}) part
      ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset}) e
    LEFT JOIN targets t ON t.id = e.target_id
    LEFT JOIN credentials other ON other.id = e.credential_id AND other.organization_id <> ${organization}
    LEFT JOIN credentials one ON one.id = e.credential_id
    ORDER BY e.at DESC, e.id DESC`;
}

/** Counts the rows of the parts, up to `limit`. */
export function eventCount(parts: readonly string[], limit: number): string {
  const counted = parts.map((condition) => `(SELECT 1 FROM rule_events e WHERE ${condition} LIMIT ${limit})`);
  return `SELECT least(count(*), ${limit})::int AS total FROM (${counted.join(' UNION ALL ')}) part`;
}
