import type { Answer, ApiClient } from '../harness/api-client';
import { colleague, type Colleague } from './colleague';
import type { Organization } from './organization';

export interface AccessRequest {
  readonly id: string;
  readonly status: string;
  readonly approvalsNeeded: number;
  readonly approvals: number;
  readonly decideBy: string | null;
  readonly useBy: string | null;
  readonly mayDecide: boolean;
  readonly breakGlass: boolean;
  readonly sessionId: string | null;
  readonly endedAt: string | null;
  readonly decisions: readonly { userEmail: string; decision: string; note: string | null }[];
}

export const REASON = 'INC-12: the disk is full';

/** Another administrator of the organization. */
export async function administrator(org: Organization): Promise<Colleague> {
  const other = await colleague(org, []);
  await org.drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [other.id]);
  return other;
}

/** Changes the organization's role. */
export const asks = (org: Organization, policy: object): Promise<unknown> =>
  org.admin.expect(200, org.admin.patch(`/roles/${org.roleId}`, policy));

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

/** A request that waits. */
export const asked = async (
  org: Organization,
  client: ApiClient,
  body: object = {},
): Promise<AccessRequest> => client.expect(201, ask(org, client, body));

export const readRequest = (client: ApiClient, id: string): Promise<AccessRequest> =>
  client.expect(200, client.get<AccessRequest>(`/access-requests/${id}`));
