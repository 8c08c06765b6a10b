import { addressesOf, type Session } from '#client';
import { WatchedAccess } from '../access/watched-access';
import { EXIT } from '../exit-codes';
import type { Call } from '../program';
import { Interrupted, Signals } from '../terminal/signals';
import { timeText } from '../terminal/times';
import { requestOf, type AccessOptions } from './access-options';
import { resourcesOf } from './sessions';

export interface WatchOptions extends Omit<AccessOptions, 'addresses'> {
  /** seconds */
  readonly interval: number;
}

/** Gives access until it is interrupted, to whatever address the caller has. */
export async function watch(call: Call<WatchOptions>): Promise<number> {
  const { options, output } = call;
  const signals = new Signals();
  try {
    const server = call.connection;
    const request = requestOf('watch', { ...options, addresses: 'observed' });
    const intervalMs = 1000 * options.interval;
    const watched = await WatchedAccess.open({
      server,
      request,
      intervalMs,
      output,
      signal: signals.aborted,
    });
    output.note(heldNote(watched.session));
    try {
      await watched.follow();
    } finally {
      if (await watched.close()) output.note('the access is closed');
    }
    const { session, changes } = watched;
    output.result({ sessionId: session.id, changes }, '');
    return EXIT.ok;
  } catch (error) {
    // before there was any access
    if (signals.aborted.reason instanceof Interrupted) return EXIT.ok;
    throw error;
  } finally {
    signals.close();
  }
}

function heldNote(session: Session): string {
  const access = `${addressesOf(session).join(', ')} on ${resourcesOf(session)}`;
  return `access is held for ${access} until ${timeText(session.expiresAt)}, session ${session.id}; Ctrl-C ends it`;
}
