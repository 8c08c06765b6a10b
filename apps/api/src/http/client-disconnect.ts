import type { ServerResponse } from 'node:http';

/** Aborts when the client closes the connection before the response is sent. */
export function clientDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
  return controller.signal;
}
