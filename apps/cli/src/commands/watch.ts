import { WatchedAccess } from '../access/watched-access';
import { EXIT } from '../exit-codes';
import type { Call } from '../program';
import { Interrupted, Signals } from '../terminal/signals';
import { requestOf, type AccessOptions } from './access-options';

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
    output.note(`access is held, session ${watched.sessionId}; Ctrl-C ends it`);
    try {
      await watched.follow();
    } finally {
      await watched.close();
    }
    const { sessionId, changes } = watched;
    output.result({ sessionId, changes }, '');
    return EXIT.ok;
  } catch (error) {
    // before there was any access
    if (signals.aborted.reason instanceof Interrupted) return EXIT.ok;
    throw error;
  } finally {
    signals.close();
  }
}
