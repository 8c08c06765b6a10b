import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const HEADER = 'X-Request-Id';
const ACCEPTED = /^[\w.-]{1,64}$/;

const requestIds = new WeakMap<IncomingMessage, string>();

/** Express middleware: takes the caller's X-Request-Id when it is harmless, else makes one, and sends it back. */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
  requestIds.set(request, id);
  response.setHeader(HEADER, id);
  next();
}

/** The id `nameRequest` gave. */
export const requestIdOf = (request: IncomingMessage): string | null => requestIds.get(request) ?? null;
