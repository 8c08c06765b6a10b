import { useState } from 'react';
import { api } from '../../api';

type Change = (id: string, isAdded: boolean) => Promise<unknown>;

/**
 * Sends what a form changed of a list since it was opened, one by one: a list has no limit then, and what others have
 * changed meanwhile stays.
 * @param now the list as it was read last
 */
export function useMembers(now: readonly string[]) {
  const [before, setBefore] = useState(now);
  return async (chosen: readonly string[], change: Change): Promise<void> => {
    for (const id of new Set([...before, ...chosen])) {
      const isAdded = chosen.includes(id);
      if (isAdded !== before.includes(id) && isAdded !== now.includes(id)) await change(id, isAdded);
    }
    setBefore(chosen);
  };
}

/** Gives a role to a user, or takes it. */
export function changeUser(id: string, userId: string, isAdded: boolean): Promise<unknown> {
  const of = { params: { path: { id, userId } } };
  const path = '/api/v1/roles/{id}/users/{userId}';
  return isAdded ? api.POST(path, of) : api.DELETE(path, of);
}

/** The same for a resource. */
export function changeResource(id: string, resourceId: string, isAdded: boolean): Promise<unknown> {
  const of = { params: { path: { id, resourceId } } };
  const path = '/api/v1/roles/{id}/resources/{resourceId}';
  return isAdded ? api.POST(path, of) : api.DELETE(path, of);
}
