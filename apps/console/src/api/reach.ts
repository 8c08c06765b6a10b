import { hearTime } from './clock';
import { unreachable } from './failure';

/** Sends a request as it is. @throws Failure when no answer comes */
export async function reach(request: Request, isChange = request.method !== 'GET'): Promise<Response> {
  const answer = await fetch(request).catch((error: unknown) => {
    const isLate = (): boolean => (request.signal.reason as Error).name === 'TimeoutError';
    // a screen that was left needs no answer
    throw request.signal.aborted && !isLate() ? error : unreachable(isChange);
  });
  hearTime(answer);
  return answer;
}
