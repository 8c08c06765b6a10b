import { serverNow } from './clock';
import { Followed } from './followed';

/** When the server answered last, in milliseconds of its clock, while it does not; null: it answers. */
export const silentSince = new Followed<number | null>(null);
let lastAnswerAt: number | null = null;

export function heard(): void {
  lastAnswerAt = serverNow();
  if (silentSince.get() !== null) silentSince.set(null);
}

export const unheard = (): void => silentSince.set(lastAnswerAt);

/** Without a network nothing is asked, so that nothing fails. */
export const watchNetwork = (): void => window.addEventListener('offline', unheard);
