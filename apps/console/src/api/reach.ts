import { hearTime } from './clock';
import { heard, unheard } from './contact';
import { unreachable } from './failure';

/** A proxy answers for a server that does not. */
const FROM_PROXY = [502, 503, 504];

/** Sends a request as it is. @throws Failure when no answer comes */
export async function reach(request: Request, isChange = request.method !== 'GET'): Promise<Response> {
  const answer = await fetch(request).catch((error: unknown) => {
    const isLate = (): boolean => (request.signal.reason as Error).name === 'TimeoutError';
    // a screen that was left needs no answer
    if (request.signal.aborted && !isLate()) throw error;
    unheard();
    throw unreachable(isChange);
  });
  hearTime(answer);
  if (FROM_PROXY.includes(answer.status)) unheard();
  else heard();
  return answer;
}
