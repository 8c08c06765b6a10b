import type { ApiClient, Session } from '../../harness/product/api-client';
import type { Organization } from '../accounts/organization';

export const LIVE = ['PENDING', 'ACTIVE', 'PARTIAL'];
export const NOT_LIVE = ['FAILED', 'EXPIRING', 'EXPIRED', 'CANCELLED'];

let made = 0;
/** An address that is unique in the test file. */
export function freshAddress(): string {
  made += 1;
  return `198.51.${100 + Math.floor(made / 250)}.${made % 250}`;
}

/** Sets the session's status in the database. It stays while no worker runs. */
export async function putInStatus(org: Organization, id: string, status: string): Promise<void> {
  await org.drawbridge.query('UPDATE sessions SET status = $2 WHERE id = $1', [id, status]);
}

/** A session with the status, started by the admin unless another client is given. */
export async function sessionInStatus(
  org: Organization,
  status: string,
  client: ApiClient = org.admin,
  more: object = {},
): Promise<Session> {
  const body = { ipv4Address: freshAddress(), ...more };
  const session = await client.posted<Session>('/sessions', body);
  await putInStatus(org, session.id, status);
  return session;
}
