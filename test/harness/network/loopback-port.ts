import type { AddressInfo, Server, Socket } from 'node:net';

/** What listens on a port of loopback, and knows its connections. */
export abstract class LoopbackPort {
  /** any that is free, and the same one after it was stopped */
  port = 0;
  private readonly sockets = new Set<Socket>();

  protected constructor(protected readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((listening) => this.server.listen(this.port, '127.0.0.1', listening));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Ends every connection; new ones are accepted. */
  reset(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Ends every connection, and refuses new ones until it listens again. */
  async stop(): Promise<void> {
    const stopped = new Promise((done) => this.server.close(done));
    this.reset();
    await stopped;
  }
}
