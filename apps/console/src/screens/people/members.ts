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

const PATHS = {
  user: '/api/v1/roles/{id}/users/{userId}',
  resource: '/api/v1/roles/{id}/resources/{resourceId}',
} as const;

/** Gives a role to a user or a resource, or takes it. */
export function changeMember(kind: keyof typeof PATHS, id: string, member: string, isAdded: boolean) {
  const of = { params: { path: { id, userId: member, resourceId: member } } };
  return isAdded ? api.POST(PATHS[kind], of) : api.DELETE(PATHS[kind], of);
}
