import { api, type Schemas } from '../../api';
import { settled } from '../../parts/session-actions';

/** What a request may name; more are left out, which means all. */
export const MAX_NAMED = 100;

/** Starts a session, and ends with its outcome. @param onStarted shows it meanwhile */
export async function start(
  body: Schemas['StartSessionDto'],
  onStarted: (id: string) => void,
): Promise<void> {
  const { id } = (await api.POST('/api/v1/sessions', { body })).data!;
  onStarted(id);
  await settled(id);
}
