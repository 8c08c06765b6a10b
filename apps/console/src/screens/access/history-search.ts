import { STATUSES, type Session } from '../../parts/sessions';

/** What the address of the history says. Days are those of this place, as date fields have them. */
export interface HistorySearch {
  readonly status?: Session['status'];
  readonly resourceId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly page?: number;
}

const UUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i;
const isDay = (given: unknown): given is string =>
  typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given));

/** Ignores what does not fit. */
export function readHistorySearch({
  status,
  resourceId,
  from,
  to,
  page,
}: Record<string, unknown>): HistorySearch {
  const known = STATUSES.find((each) => each === status);
  return {
    ...(known ? { status: known } : {}),
    ...(typeof resourceId === 'string' && UUID.test(resourceId) ? { resourceId } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 0 ? { page } : {}),
  };
}

/** The same as parameters of the list: the sessions that held access at some time of these days. */
export const historyQuery = ({ from, to, page = 0, ...rest }: HistorySearch, size: number) => ({
  ...rest,
  from: from && new Date(`${from}T00:00:00`).toISOString(),
  to: to && new Date(`${to}T23:59:59.999`).toISOString(),
  page,
  size,
});
