import { pipeline } from 'node:stream/promises';
import type { Socket } from 'node:net';
import { endpointOf, reachOrFail } from '../access/probe';
import { EXIT } from '../exit-codes';
import type { Call } from '../program';
import { systemCode } from '../profiles/system-error';
import { Signals } from '../terminal/signals';
import { whileHeld, type AccessOptions } from './access-options';

/** Gives access while one connection is open, which standard input and output are joined to. */
export async function connect(call: Call<AccessOptions>): Promise<number> {
  const [host = '', port = ''] = call.given;
  const endpoint = endpointOf(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, 'HOST PORT');
  const signals = new Signals();
  // ssh goes to the background by a fork, and its first process ends: only together with the input is that the end
  process.stdin.once('end', () => signals.watchParent());
  return whileHeld(call, 'connect', signals, async () => {
    await join(await reachOrFail(endpoint, signals.aborted), signals.aborted);
    return EXIT.ok;
  });
}

/** Until both directions are over: each side may finish first, and still read the rest. */
async function join(socket: Socket, signal: AbortSignal): Promise<void> {
  const outgoing = pipeline(process.stdin, socket, { signal });
  const incoming = pipeline(socket, process.stdout, { signal, end: false });
  try {
    // what the other side has closed, nothing more can be sent to
    await Promise.race([incoming, outgoing.then(() => incoming)]);
  } catch (error) {
    // a side that closes at once has finished as well
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(systemCode(error))) throw error;
  } finally {
    // nothing waits for it any more: destroying its ends fails it
    outgoing.catch(() => undefined);
    socket.destroy();
    process.stdin.destroy();
  }
}
