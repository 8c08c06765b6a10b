import { discover, observeAddresses, pause, Unreachable, type Observed } from '#client';
import type { Output } from '../output';

interface Whereabouts {
  readonly url: string;
  /** the addresses at the start: the access is for the first of each family, or for all */
  readonly observed: Observed;
  readonly intervalMs: number;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/**
 * Says when this machine has come to another network while it holds access: renewals, which work from anywhere, keep the
 * access of the address before, and the new one has none. Never throws.
 */
export async function noteMoves({ url, observed, intervalMs, output, signal }: Whereabouts): Promise<void> {
  const before = [...observed.ipv4, ...observed.ipv6];
  if (before.length === 0) return;
  let isAway = false;
  for (;;) {
    await pause(intervalMs, signal);
    if (signal.aborted) return;
    const now = await observeIfReachable(url, output);
    // a family that is missing has not moved
    const unknown = now.filter((address) => !before.includes(address));
    if (now.length === 0 || unknown.length > 0 === isAway) continue;
    isAway = !isAway;
    output.note(
      isAway
        ? `your address is now ${unknown.join(', ')}, and ${before.join(', ')} keeps the access: ` +
            'drawbridge watch in place of this follows your address'
        : `your address is ${now.join(', ')} again, which has the access`,
    );
  }
}

/** @returns nothing while the server is away, which is noticed by the renewals */
async function observeIfReachable(url: string, output: Output): Promise<string[]> {
  try {
    const { ipv4, ipv6 } = await observeAddresses(url, await discover(url));
    return [...ipv4, ...ipv6];
  } catch (error) {
    if (!(error instanceof Unreachable)) output.note(`the address could not be observed: ${String(error)}`);
    return [];
  }
}
