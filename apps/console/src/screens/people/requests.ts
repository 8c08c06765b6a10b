import { useState } from 'react';
import { api, asFailure } from '../../api';

const TOO_MANY = 429;
/** A longer wait is a limit of another kind, such as that of invitations a day. */
const MAX_WAIT_MS = 60_000;

/** Sends one request after the other; waits when the API asks for it. */
export async function patiently<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const { status, retryAfterMs } = asFailure(error);
      if (status !== TOO_MANY || retryAfterMs === null || retryAfterMs > MAX_WAIT_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }
}

interface Change {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * What a form adds to a list and removes from it; what others have changed since it was opened stays as it is.
 * @param now the list as it was read last
 */
export function useChange(now: readonly string[]) {
  const [before, setBefore] = useState(now);
  const changeTo = (chosen: readonly string[]): Change => ({
    added: chosen.filter((id) => !before.includes(id) && !now.includes(id)),
    removed: now.filter((id) => before.includes(id) && !chosen.includes(id)),
  });
  return [changeTo, setBefore] as const;
}

/** Each is a request of its own: lists of a role have no limit then. */
export async function changeUsers(roleId: string, { added, removed }: Change): Promise<void> {
  const of = (userId: string) => ({ params: { path: { id: roleId, userId } } });
  for (const id of removed) await patiently(() => api.DELETE('/api/v1/roles/{id}/users/{userId}', of(id)));
  for (const id of added) await patiently(() => api.POST('/api/v1/roles/{id}/users/{userId}', of(id)));
}

/** The same for resources. */
export async function changeResources(roleId: string, { added, removed }: Change): Promise<void> {
  const of = (resourceId: string) => ({ params: { path: { id: roleId, resourceId } } });
  for (const id of removed)
    await patiently(() => api.DELETE('/api/v1/roles/{id}/resources/{resourceId}', of(id)));
  for (const id of added)
    await patiently(() => api.POST('/api/v1/roles/{id}/resources/{resourceId}', of(id)));
}
