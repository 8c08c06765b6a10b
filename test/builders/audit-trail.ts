import type { ApiClient } from '../harness/api-client';
import type { Page } from './page';

export interface AuditRecord {
  readonly id: string;
  readonly eventType: string;
  readonly timestamp: string;
  readonly actorType: string;
  readonly actorId: string | null;
  readonly actorEmail: string | null;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly result: string;
  readonly ipAddress: string | null;
  readonly errorMessage: string | null;
  readonly details: Record<string, unknown>;
}

/** What a client sees of the audit trail. @param query e.g. `?eventType=ROLE_CREATED` */
export const auditPage = (client: ApiClient, query = ''): Promise<Page<AuditRecord>> =>
  client.expect(200, client.get<Page<AuditRecord>>(`/audit-logs${query}`));

/** The records of one page, newest first. */
export const auditRecords = async (client: ApiClient, query = '?size=100'): Promise<AuditRecord[]> =>
  (await auditPage(client, query)).content;
