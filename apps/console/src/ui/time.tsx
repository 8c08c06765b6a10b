import { useSyncExternalStore } from 'react';
import { serverNow } from '../api';

const listeners = new Set<() => void>();
let now = serverNow();
let timer: ReturnType<typeof setInterval> | null = null;

/** One clock for all that counts down, as long as something does. */
function onSecond(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) now = serverNow();
  timer ??= setInterval(() => {
    now = serverNow();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** The server's time, in milliseconds; the component is drawn again every second. */
const useNow = (): number => useSyncExternalStore(onSecond, () => now);

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** A point in time as this place writes it: the clock today, with the day otherwise. */
export function localTime(at: string): string {
  const date = new Date(at);
  const today = new Date(serverNow());
  if (date.toDateString() === today.toDateString()) return CLOCK.format(date);
  const day = date.getFullYear() === today.getFullYear() ? DAY : DAY_OF_YEAR;
  return `${day.format(date)}, ${CLOCK.format(date)}`;
}

type TimeProps =
  | { readonly at: string; readonly none?: never }
  /** `none` is what a time that is not there means: an end that did not come is no "never" */
  | { readonly at: string | null | undefined; readonly none: string };

/** Local time; the exact time in UTC on hover. @param given `at` as the API writes it */
export const Time = ({ at, none }: TimeProps) =>
  at ? (
    <time dateTime={at} title={at.replace('T', ' ').replace('Z', ' UTC')}>
      {localTime(at)}
    </time>
  ) : (
    <span>{none}</span>
  );

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A duration in the two units that matter. */
function durationText(milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  if (left < MINUTE) return `${Math.ceil(left / 1000)} s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min`;
  const hours = Math.floor(left / HOUR);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  const minutes = Math.floor((left % HOUR) / MINUTE);
  return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
}

/** Counts down to a time. */
export function TimeLeft({ until }: { readonly until: string }) {
  return <span>{durationText(new Date(until).getTime() - useNow())} left</span>;
}
