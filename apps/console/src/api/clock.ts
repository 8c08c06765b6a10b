/** The server's time minus that of the page's own clock, which no change of the time of day moves; null: no answer yet. */
let aheadMs: number | null = null;

/** A server's clock that is set back shows as answers that are later than their distance explains. */
const SET_BACK_MS = 60_000;

/** Takes the time of an answer: each is a lower bound, since it travelled, and names whole seconds. */
export function hearTime(answer: Response): void {
  const heard = Date.parse(answer.headers.get('Date') ?? '') - performance.now();
  if (Number.isNaN(heard)) return;
  if (aheadMs === null || heard > aheadMs || heard < aheadMs - SET_BACK_MS) aheadMs = heard;
}

/**
 * The time of the server, in milliseconds: whatever the API dates is compared with it. The clock of this machine may be
 * wrong by hours.
 */
export const serverNow = (): number => (aheadMs === null ? Date.now() : aheadMs + performance.now());
