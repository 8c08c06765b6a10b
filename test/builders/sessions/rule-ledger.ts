import type { Product } from '../../harness/product/drawbridge';
import type { AppProcess } from '../../harness/product/processes';

export interface LedgerRow {
  readonly kind: string;
  readonly cause: string | null;
  readonly message: string | null;
  readonly providerRuleId: string | null;
  readonly holderKind: string;
  readonly sessionId: string | null;
}

/** The ledger's events of one IPv4 address, oldest first. */
export const ledgerOf = (drawbridge: Product, ipv4Address: string): Promise<LedgerRow[]> =>
  drawbridge.query<LedgerRow>(
    `SELECT kind, cause, message, provider_rule_id AS "providerRuleId", holder_kind AS "holderKind", session_id AS "sessionId"
     FROM rule_events WHERE address = $1 ORDER BY at, id`,
    [`${ipv4Address}/32`],
  );

export interface RecordRow {
  readonly organizationId: string;
  readonly eventType: string;
  readonly resourceId: string | null;
  readonly result: string;
  /** ms since 1970 */
  readonly at: number;
}

/** Audit records of any organization that mention an address. @param eventType LIKE this */
export const recordsOf = (drawbridge: Product, eventType: string, address: string): Promise<RecordRow[]> =>
  drawbridge.query<RecordRow>(
    `SELECT organization_id AS "organizationId", event_type AS "eventType", resource_id AS "resourceId", result,
       extract(epoch FROM timestamp)::float8 * 1000 AS at
     FROM audit_records WHERE event_type LIKE $1 AND concat(details, error_message) ~ $2 ORDER BY sequence`,
    [eventType, `${address.replaceAll('.', String.raw`\.`)}(\\D|$)`],
  );

export interface HealthRow {
  readonly eventType: string;
  readonly message: string | null;
}

/** A resource's health events, oldest first. */
export const healthOf = (drawbridge: Product, resourceId: string): Promise<HealthRow[]> =>
  drawbridge.query<HealthRow>(
    `SELECT event_type AS "eventType", message FROM resource_health_events WHERE resource_id = $1
     ORDER BY created_at, id`,
    [resourceId],
  );

/** The value of a worker's metric for AWS; 0 while it does not exist. */
export async function metricOf(worker: AppProcess, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${worker.port}/metrics`);
  const lines = (await response.text()).split('\n');
  const line = lines.find((one) => one.startsWith(`${name}{`) && one.includes('provider="AWS"'));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Lines of the worker's log, one object each. */
export function logOf(worker: AppProcess): Record<string, unknown>[] {
  return worker.output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      // the last line may be cut off
      return [];
    }
  });
}
