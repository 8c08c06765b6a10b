import { CallFailure } from '../call-failure';

/**
 * Sends a refused batch again in halves, and those in halves, until what EC2 objects to stands alone.
 * @param failure why the whole batch was refused
 * @param send gives null when nothing of the part needs sending again
 * @param settle deals with a refused part as it is; false: halve it
 */
export async function divide<T>(
  batch: readonly T[],
  failure: CallFailure,
  send: (part: readonly T[]) => Promise<CallFailure | null>,
  settle: (part: readonly T[], failure: CallFailure) => boolean | Promise<boolean>,
): Promise<void> {
  if (await settle(batch, failure)) return;
  const middle = Math.ceil(batch.length / 2);
  for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
    const refusal = await send(half);
    if (refusal) await divide(half, refusal, send, settle);
  }
}
