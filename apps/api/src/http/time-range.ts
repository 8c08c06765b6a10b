import { badRequest } from '../errors/api-error';

/** Inclusive bounds of a list by time; null: unbounded. */
export interface TimeRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** @throws ApiError 400 when `from` is after `to` */
export function timeRange(given: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): TimeRange {
  const from = given.from === undefined ? null : new Date(given.from);
  const to = given.to === undefined ? null : new Date(given.to);
  if (from && to && from > to) {
    throw badRequest('from must not be later than to', { from: 'must not be later than to' });
  }
  return { from, to };
}
