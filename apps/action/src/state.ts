import { getState, saveState } from '@actions/core';
import type { SavedEnd } from '#client';

/** What the post step needs to end the access: it gets this, and no other step does. */
export interface Access {
  /** of the server, without `/api/v1` */
  readonly url: string;
  readonly sessions: readonly SessionState[];
  /** the renewer lives as long as this file, and writes its notes there */
  readonly notesFile: string;
  readonly address: string;
  readonly leaseSeconds: number;
}

export interface SessionState {
  readonly id: string;
  /** reads, renews and stops this session only */
  readonly token: string;
  /** as it was when the session had started */
  readonly end: SavedEnd;
}

const ACCESS = 'access';

/** The last call counts. */
export const saveAccess = (access: Access): void => saveState(ACCESS, JSON.stringify(access));

/** @returns null when no session was started */
export function savedAccess(): Access | null {
  const text = getState(ACCESS);
  return text === '' ? null : (JSON.parse(text) as Access);
}
