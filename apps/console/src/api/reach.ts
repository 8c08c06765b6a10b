import { hearTime } from './clock';
import { unreachable } from './failure';

/** Sends a request as it is. @throws Failure when no answer comes */
export async function reach(request: Request, isChange = request.method !== 'GET'): Promise<Response> {
  const answer = await fetch(request).catch((error: unknown) => {
    const { aborted, reason } = request.signal;
    // a screen that was left needs no answer
    throw aborted && (reason as Error).name !== 'TimeoutError' ? error : unreachable(isChange);
  });
  hearTime(answer);
  return answer;
}
