import type { ServerResponse } from 'node:http';

/** Aborted when nobody is there any more to take the answer. */
export function hungUp(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}
