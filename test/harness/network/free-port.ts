import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/** Systems choose ports above these for outgoing connections: none of those takes the port before it is used. */
const PORTS = [20_000, 30_000] as const;

/**
 * A port that is free at this moment.
 * @param following so many ports after it are free, too
 */
export async function freePort(following = 0): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const wanted = Array.from({ length: following + 1 }, (_, index) => isFree(port + index));
    if ((await Promise.all(wanted)).every(Boolean)) return port;
  }
}

/** Whether something listens on a port of loopback. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
