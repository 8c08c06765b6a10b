import type { ServerResponse } from 'node:http';
import { WAITS } from './request-turns';

/** For a request that waits: aborts when the client closes the connection before the response is sent. */
export function clientDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.emit(WAITS);
  if (response.closed) controller.abort();
  else
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
  return controller.signal;
}
