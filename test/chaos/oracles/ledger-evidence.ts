import type { Organization } from '../../builders/accounts/organization';
import { Random } from '../runner/random';
import { unlessUnanswered } from '../runner/unanswered';
import type { AccessItem, AccessReport, HealthEvent, LedgerEvent, LedgerEvidence } from './evidence';

type Query = <Row extends object>(statement: string, given?: readonly unknown[]) => Promise<Row[]>;

/** Half of the reports request a moment this close to a change in the timeline, in ms. */
const EDGE_MS = 100;

export interface ReportPlan {
  /** ms since 1970 */
  readonly since: number;
  /** when rules were opened or closed, ms since 1970 */
  readonly changes: readonly number[];
  /** whose admins request the reports */
  readonly organizations: readonly Organization[];
  /** number of reports */
  readonly reports: number;
  readonly seed: number;
}

const ms = (column: string): string => `extract(epoch FROM ${column})::float8 * 1000`;

/** Reads the ledger and the health events, and requests access reports. */
export async function ledgerEvidence(query: Query, plan: ReportPlan): Promise<LedgerEvidence> {
  const since = plan.since / 1000;
  // before the reports: they cannot include what a later comparison finds
  const compared = await query<{ id: string; at: number }>(
    `SELECT id, ${ms('compared_at')} AS at FROM targets WHERE compared_at IS NOT NULL`,
  );
  const reports = await accessReports(query, plan);
  return {
    events: await query<LedgerEvent>(
      `SELECT ${ms('at')} AS at, kind, provider, target, address, protocol, ports,
         provider_rule_id AS "providerRuleId", cause, ${ms('possible_from')} AS "possibleFrom",
         ${ms('certain_from')} AS "certainFrom", ${ms('certain_until')} AS "certainUntil",
         ${ms('possible_until')} AS "possibleUntil", holder_kind AS "holderKind",
         organization_id AS "organizationId", resource_id AS "resourceId", session_id AS "sessionId"
       FROM rule_events WHERE at > to_timestamp($1) ORDER BY at, id`,
      [since],
    ),
    healthEvents: await query<HealthEvent>(
      `SELECT ${ms('created_at')} AS at, organization_id AS "organizationId", resource_id AS "resourceId",
         event_type AS "eventType", message
       FROM resource_health_events WHERE created_at > to_timestamp($1) ORDER BY created_at`,
      [since],
    ),
    reports,
    comparedAt: new Map(compared.map(({ id, at }) => [id, at])),
  };
}

/** Requests reports of a random resource and moment each: half of them near a change. */
async function accessReports(query: Query, plan: ReportPlan): Promise<AccessReport[]> {
  const admins = new Map(plan.organizations.map(({ organizationId, admin }) => [organizationId, admin]));
  const resources = await query<{ id: string; organizationId: string; isWhole: boolean }>(
    `SELECT id, organization_id AS "organizationId", write_verified AND NOT EXISTS (
       SELECT FROM resources own WHERE own.target_id = r.target_id AND own.organization_id = r.organization_id
         AND own.id <> r.id) AS "isWhole"
     FROM resources r WHERE deleted_at IS NULL AND organization_id = ANY ($1::uuid[]) ORDER BY id`,
    [[...admins.keys()]],
  );
  if (resources.length === 0) return [];
  const random = new Random(plan.seed);
  const until = Date.now();
  const reports: AccessReport[] = [];
  for (let count = 0; count < plan.reports; count += 1) {
    const { id: resourceId, organizationId, isWhole } = random.pick(resources);
    const near = plan.changes.length > 0 && random.chance(0.5);
    const at = Math.floor(
      near
        ? Math.min(until, random.pick(plan.changes) + random.between(-EDGE_MS, EDGE_MS))
        : random.between(plan.since, until),
    );
    const parameters = new URLSearchParams({ resourceId, at: new Date(at).toISOString() });
    const answer = await unlessUnanswered(
      admins.get(organizationId)!.get<ReportBody>(`/reports/access?${parameters.toString()}`),
    );
    // the admin was signed out or deleted by the scenario, or the database is down
    if (!answer || [401, 403, 503].includes(answer.status)) continue;
    if (answer.status !== 200)
      throw new Error(`An access report was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    reports.push({ resourceId, at, isWhole, items: itemsOf(answer.body).map(accessItem) });
  }
  return reports;
}

interface ReportItem {
  readonly target: { readonly provider: string; readonly identifier: string };
  readonly address: string;
  readonly protocol: string;
  readonly ports: string | null;
  readonly holderKind: AccessItem['holderKind'];
  readonly certainFrom: string | null;
  readonly certainUntil: string | null;
  readonly possibleFrom: string | null;
  readonly possibleUntil: string | null;
}

type ReportBody = readonly ReportItem[] | { readonly items: readonly ReportItem[] };

const itemsOf = (body: ReportBody): readonly ReportItem[] => ('items' in body ? body.items : body);

function accessItem(item: ReportItem): AccessItem {
  const time = (text: string | null): number | null => (text === null ? null : Date.parse(text));
  return {
    provider: item.target.provider,
    target: item.target.identifier,
    address: item.address,
    protocol: item.protocol,
    ports: item.ports ?? '*',
    holderKind: item.holderKind,
    certainFrom: time(item.certainFrom),
    certainUntil: time(item.certainUntil),
    possibleFrom: time(item.possibleFrom),
    possibleUntil: time(item.possibleUntil),
  };
}
