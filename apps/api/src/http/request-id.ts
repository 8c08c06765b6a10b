import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const HEADER = 'X-Request-Id';
const ACCEPTED = /^[\w.-]{1,64}$/;

const requestIds = new WeakMap<IncomingMessage, string>();

/** Express middleware: uses the caller's X-Request-Id if it is valid, otherwise generates one, and returns it. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
  requestIds.set(request, id);
  response.setHeader(HEADER, id);
  next();
}

export const requestIdOf = (request: IncomingMessage): string | null => requestIds.get(request) ?? null;
