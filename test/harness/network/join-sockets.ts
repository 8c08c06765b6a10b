import type { Socket } from 'node:net';

/** Passes everything between two connections; both end together. @param open holds them meanwhile */
export function joinSockets(client: Socket, server: Socket, open = new Set<Socket>()): void {
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(one);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      open.delete(one);
      other.destroy();
    });
    one.pipe(other);
  }
}
