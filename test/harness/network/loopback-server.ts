import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LoopbackPort } from './loopback-port';

/** An HTTP server on a free port of loopback. */
export abstract class LoopbackServer extends LoopbackPort {
  constructor() {
    super(createServer());
    this.server.on('request', (...given: [IncomingMessage, ServerResponse]) => void this.serve(...given));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  protected abstract serve(request: IncomingMessage, response: ServerResponse): unknown;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
