import { serverNow } from '#client';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time of the server as people read it: in the time zone of this machine, and how far from the server's now. @param iso null: `never` */
export function timeText(iso: string | Date | null | undefined, now = serverNow()): string {
  if (iso === null || iso === undefined) return 'never';
  const time = new Date(iso);
  const distance = time.getTime() - now;
  const clock = `${pad(time.getHours())}:${pad(time.getMinutes())}`;
  const date = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  // the distance says which day it is, where it is less than one
  return `${Math.abs(distance) < DAY ? clock : `${date} ${clock}`} (${distanceText(distance)})`;
}

const pad = (value: number): string => String(value).padStart(2, '0');

function distanceText(ms: number): string {
  const distance = Math.abs(ms);
  if (distance < SECOND) return 'now';
  const text = spanText(distance);
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

function spanText(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  const hours = Math.floor(ms / HOUR);
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  if (ms < DAY) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}
