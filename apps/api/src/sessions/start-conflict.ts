import type { Tx } from '#entities';
import type { Principal } from '#guards';
import { AddressTaken, SessionStore, TooManyLiveSessions } from '#tenant-store';
import { conflict } from '../errors/api-error';

/**
 * Maps constraint violations of a start to 409 and returns every other error unchanged. Reads outside the failed
 * transaction, which accepts no more statements.
 */
export async function startConflict(
  tx: Tx,
  sessions: SessionStore,
  { organizationId }: Principal,
  error: unknown,
  replaced: string | null = null,
): Promise<unknown> {
  if (!(error instanceof AddressTaken || error instanceof TooManyLiveSessions)) return error;
  const live = await sessions.liveSession(tx, organizationId, error.session, replaced);
  if (live) {
    return conflict(
      `Session ${live.id} is already active for this user and address: stop it, extend it, or give a holder`,
    );
  }
  if (error instanceof AddressTaken)
    return conflict('Another session for this user and address ended just now: try again');
  const user = error.isService ? 'a service user' : 'a user';
  return conflict(
    `You have ${error.limit} live sessions, the most ${user} may have: stop one, or let one end`,
  );
}
