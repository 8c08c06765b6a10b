import { invalidField } from '../errors/api-error';

/** Inclusive bounds of a list by time; null: unbounded. */
export interface TimeRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

const RECENT_DAYS = 31;
const DAY_MS = 86_400_000;

/**
 * For filters that no index serves: each row of the time is read.
 * @param filters with their values; undefined: not given
 * @throws ApiError 400 when one is given without a recent `from`
 */
export function refuseLongReading(filters: Readonly<Record<string, unknown>>, from: Date | null): void {
  const name = Object.keys(filters).find((filter) => filters[filter] !== undefined);
  // a whole day of grace: clients reckon in days
  if (name === undefined || (from && from.getTime() > Date.now() - (RECENT_DAYS + 1) * DAY_MS)) return;
  throw invalidField(name, `goes with from, at most ${RECENT_DAYS} days ago`);
}

/** @throws ApiError 400 when `from` is after `to` */
export function timeRange(given: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): TimeRange {
  const from = given.from === undefined ? null : new Date(given.from);
  const to = given.to === undefined ? null : new Date(given.to);
  if (from && to && from > to) {
    throw invalidField('from', 'must not be later than to');
  }
  return { from, to };
}
