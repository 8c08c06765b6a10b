import type { ServerResponse } from 'node:http';

/** Aborts when the client closes the connection before the response is sent. */
export const clientDisconnectSignal = (response: ServerResponse): AbortSignal =>
  clientDisconnect(response).signal;

/** As `clientDisconnectSignal`, for a request that may be ended for another reason, too. */
export function clientDisconnect(response: ServerResponse): AbortController {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
  return controller;
}
