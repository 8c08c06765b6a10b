import { Fragment, useSyncExternalStore } from 'react';
import { Followed, serverNow } from '../api';

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

/** Whether times are shown in UTC rather than in the zone of this machine; kept in this browser. */
const IN_UTC = 'drawbridge-utc';
const inUtc = new Followed(false);

export const restoreZone = (): void => inUtc.set(localStorage.getItem(IN_UTC) !== null);

function showUtc(next: boolean): void {
  if (next) localStorage.setItem(IN_UTC, 'yes');
  else localStorage.removeItem(IN_UTC);
  inUtc.set(next);
}

/** The zone that times are shown and entered in, such as "Europe/Berlin". */
export const zoneName = (): string => (inUtc.get() ? 'UTC' : localZone());

const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The same for a component, which is drawn again when another one is chosen. */
export const useZone = (): string => useSyncExternalStore(inUtc.follow, zoneName);

/** Says in which zone times are, and shows them in the other one, if it is another one. */
export function ZoneSwitch() {
  const zone = useZone();
  return (
    <span>
      Times in {zone}{' '}
      {localZone() === 'UTC' ? null : (
        <button type="button" className="link" onClick={() => showUtc(!inUtc.get())}>
          {inUtc.get() ? 'Local time' : 'Show UTC'}
        </button>
      )}
    </span>
  );
}

/** A time as a field of type `datetime-local` has it. */
export function toLocalField(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  const aheadMs = inUtc.get() ? 0 : date.getTimezoneOffset() * -60_000;
  return new Date(date.getTime() + aheadMs).toISOString().slice(0, 16);
}

/** The time that was entered into such a field; undefined: none. */
export function fromLocalField(entered: string): string | undefined {
  const date = new Date(inUtc.get() ? `${entered}Z` : entered);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(at: Date, options: Intl.DateTimeFormatOptions): string {
  const key = `${inUtc.get()} ${JSON.stringify(options)}`;
  const zone = inUtc.get() ? { timeZone: 'UTC' } : {};
  const found = formats.get(key) ?? new Intl.DateTimeFormat(undefined, { ...options, ...zone });
  formats.set(key, found);
  return found.format(at);
}

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const TO_THE_SECOND = { ...CLOCK, second: '2-digit' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;
const DAY_OF_YEAR = { ...DAY, year: 'numeric' } as const;

/** "14:03:10" */
export const clockText = (at: number): string => format(new Date(at), TO_THE_SECOND);

/** "28 Nov, 14:03"; with the year when it is another one, or when it is exact to the second */
function dateAndTime(at: string, isExact = false): string {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(serverNow()).getFullYear();
  const day = format(date, isThisYear && !isExact ? DAY : DAY_OF_YEAR);
  return `${day}, ${format(date, isExact ? TO_THE_SECOND : CLOCK)}`;
}

/** A point in time in a sentence: the clock today, with the day otherwise. */
export function localTime(at: string): string {
  const date = new Date(at);
  const isToday = format(date, DAY_OF_YEAR) === format(new Date(serverNow()), DAY_OF_YEAR);
  return `${isToday ? format(date, CLOCK) : dateAndTime(at)}${inUtc.get() ? ' UTC' : ''}`;
}

type TimeProps = {
  /** with the year and seconds: where it is evidence */
  readonly isExact?: boolean;
} & (
  | { readonly at: string; readonly none?: never }
  /** `none` is what a time that is not there means: an end that did not come is no "never" */
  | { readonly at: string | null | undefined; readonly none: string }
);

/** Date and time in the zone that is shown; the exact time in UTC on hover. @param given `at` as the API writes it */
export const Time = ({ at, none, isExact = false }: TimeProps) =>
  at ? (
    <time dateTime={at} title={at.replace('T', ' ').replace('Z', ' UTC')}>
      {isExact
        ? // beside long addresses, the clock goes below the date
          dateAndTime(at, true)
            .split(/(?<=,) (?=[^,]*$)/)
            .map((part) => (
              <Fragment key={part}>
                <span>{part}</span>{' '}
              </Fragment>
            ))
        : dateAndTime(at)}
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

/** "about 80 s", "about 9 min" */
export const aboutText = (seconds: number): string =>
  `about ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`;

/** Counts down to a time. */
export function TimeLeft({ until }: { readonly until: string }) {
  return <span>{durationText(new Date(until).getTime() - useNow())} left</span>;
}
