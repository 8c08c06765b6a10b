import type { Schemas } from '#client';
import type { ApiClient } from '../../harness/product/api-client';
import type { Drawbridge, Product } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { organization, type Organization } from '../accounts/organization';
import type { Page } from '../contract/page';

export type AuditRecord = Schemas['AuditRecordDto'];

/** A page of the audit trail. @param query e.g. `?eventType=ROLE_CREATED` */
export const auditPage = (client: ApiClient, query = ''): Promise<Page<AuditRecord>> =>
  client.read<Page<AuditRecord>>(`/audit-logs${query}`);

/** The records of one page, newest first. */
export const auditRecords = async (client: ApiClient, query = '?size=100'): Promise<AuditRecord[]> =>
  (await auditPage(client, query)).content;

/** Waits until the workers have sealed every record. @param organizationId left out: of all organizations */
export const allSealed = (
  drawbridge: Pick<Product, 'query'>,
  organizationId: string | null = null,
  withinMs?: number,
): Promise<boolean> =>
  until(
    'every record is sealed',
    async () => {
      const unsealed = await drawbridge.query(
        `SELECT FROM audit_records r WHERE ($1::uuid IS NULL OR r.organization_id = $1)
           AND NOT EXISTS (SELECT FROM audit_seals s WHERE s.record_id = r.id) LIMIT 1`,
        [organizationId],
      );
      return unsealed.length === 0;
    },
    withinMs,
  );

/** An organization with audit records one hour apart: `role 1` is the newest, an hour old. */
export async function organizationWithRecords(drawbridge: Drawbridge, count: number): Promise<Organization> {
  const made = await organization(drawbridge, []);
  await drawbridge.query(
    `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
     SELECT $1, 'ROLE_DELETED', 'SYSTEM', 'role ' || n, date_trunc('hour', now()) - make_interval(hours => n)
     FROM generate_series(1, $2::int) n`,
    [made.organizationId, count],
  );
  return made;
}

/** Operations that leave no record of their own, and why. */
export const WITHOUT_RECORD: ReadonlySet<string> = new Set([
  // the sign-in it goes on with is on record; a token that is used twice is a record of its own
  'POST /auth/refresh',
  // it reads
  'POST /auth/password-link',
  // worth nothing until it is confirmed, which is
  'POST /mfa/setup',
  // what an event of the payment provider changes is recorded by SYSTEM
  'POST /billing/webhooks/{adapter}',
  // what it settles is on record with its session
  'POST /agents/report',
  // it changes no access: a session that nobody renews ends, which is on record
  'POST /sessions/{id}/renew',
]);

/** Each of their rows leaves the record of its own operation: many-are-changed-at-once, rights-are-confirmed-again. A plan changes nothing. */
export const OF_MANY = [
  'POST /resources/bulk',
  'POST /resources/labels',
  'POST /resources/verify',
  'POST /reviews',
  'POST /roles/{id}/members',
  'POST /sessions/admin/bulk',
  'POST /sessions/plan',
  'POST /users/bulk',
];
