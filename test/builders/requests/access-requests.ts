import type { Schemas } from '#client';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { colleague, type Colleague } from '../accounts/colleague';
import type { Organization } from '../accounts/organization';

export type AccessRequest = Schemas['AccessRequestDto'];

export const REASON = 'INC-12: the disk is full';

/** Another administrator of the organization. */
export async function administrator(org: Organization): Promise<Colleague> {
  const other = await colleague(org, []);
  await org.drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [other.id]);
  return other;
}

/** Changes the organization's role. */
export const asks = (org: Organization, policy: object): Promise<unknown> =>
  org.admin.patched(`/roles/${org.roleId}`, policy);

export const ask = (
  org: Organization,
  client: ApiClient,
  body: object = {},
): Promise<Answer<AccessRequest>> =>
  client.post<AccessRequest>('/access-requests', {
    resourceIds: org.resourceIds,
    durationHours: 1,
    reason: REASON,
    ...body,
  });

/** What each operation that changes a request leaves in the audit trail. */
export const REQUEST_RECORDS: readonly [operation: string, eventType: string][] = [
  ['POST /access-requests', 'ACCESS_REQUESTED'],
  ['POST /access-requests/{id}/approve', 'ACCESS_REQUEST_APPROVED'],
  ['POST /access-requests/{id}/deny', 'ACCESS_REQUEST_DENIED'],
  ['POST /access-requests/{id}/withdraw', 'ACCESS_REQUEST_LAPSED'],
  ['POST /access-requests/{id}/cancel', 'ACCESS_REQUEST_CANCELLED'],
  ['POST /access-requests/{id}/review', 'BREAK_GLASS_REVIEWED'],
];

type Did = (operation: string, action: Promise<Answer<{ id: string }>>) => Promise<{ id: string }>;

/** Does every operation that changes an access request. @param prepared called when what is done next is not one of them */
export async function throughRequests(
  org: Organization,
  did: Did,
  prepared: () => Promise<unknown>,
): Promise<void> {
  const { drawbridge, admin, roleId } = org;
  const { id: deciderId, client } = await administrator(org);
  await drawbridge.query('UPDATE roles SET approvals = 1 WHERE id = $1', [roleId]);
  await prepared();
  const { id } = await did('POST /access-requests', ask(org, admin));
  await did('POST /access-requests/{id}/approve', client.post(`/access-requests/${id}/approve`));
  await did('POST /access-requests/{id}/withdraw', client.post(`/access-requests/${id}/withdraw`));
  const ended = { deny: client, cancel: admin, review: client } as const;
  for (const [action, by] of Object.entries(ended)) {
    const other = await asked(org, admin);
    await prepared();
    if (action === 'review')
      await drawbridge.query(
        `UPDATE access_requests SET break_glass = true, approvals_needed = 0, status = 'USED', due_at = NULL, session_id = id
         WHERE id = $1`,
        [other.id],
      );
    await did(`POST /access-requests/{id}/${action}`, by.post(`/access-requests/${other.id}/${action}`));
  }
  await drawbridge.query('UPDATE roles SET approvals = 0 WHERE id = $1', [roleId]);
  // where there is one administrator, that one does everything else
  await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [deciderId]);
}

/** A request that waits. */
export const asked = async (
  org: Organization,
  client: ApiClient,
  body: object = {},
): Promise<AccessRequest> => client.expect(201, ask(org, client, body));

export const readRequest = (client: ApiClient, id: string): Promise<AccessRequest> =>
  client.read<AccessRequest>(`/access-requests/${id}`);
