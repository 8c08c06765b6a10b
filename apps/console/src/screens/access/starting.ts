import { api, asFailure, type Schemas } from '../../api';
import { opened } from '../../parts/session-actions';

export type Resource = Schemas['ResourceDto'];
export type Body = Schemas['StartSessionDto'];

export interface StartProps {
  readonly me: Schemas['MeDto'];
  /** that this person may open, and that work */
  readonly resources: readonly Resource[];
  /** shows a session as soon as it is there */
  readonly onStarted: (id: string) => void;
}

/** Starts a session, or asks for it where others have to approve it. */
export async function start(body: Body, onStarted: (id: string) => void): Promise<void> {
  await opened(body, onStarted).catch(async (error: unknown) => {
    if (asFailure(error).code !== 'Approval required') throw error;
    const { replaces: _, reason = '', ...wanted } = body;
    await api.POST('/api/v1/access-requests', { body: { ...wanted, reason } });
  });
}
