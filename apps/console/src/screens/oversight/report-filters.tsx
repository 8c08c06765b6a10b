import { getRouteApi } from '@tanstack/react-router';
import { TextField, type Entered } from '../../ui';
import { Filters, ResourceFilter, SelectFilter, TimeFilter, UserFilter } from './filters';
import { changed, fromLocalField, type Change, type Search } from './search';

const route = getRouteApi('/signed-in/administrator/report');
const MONTH_MS = 30 * 24 * 3_600_000;

export type ReportSearch = Search<'resourceId' | 'userId' | 'address' | 'at' | 'from' | 'to'>;

export const isBetween = ({ from, to }: ReportSearch): boolean => from !== undefined || to !== undefined;

const WHEN = [
  ['at', 'At a time'],
  ['between', 'Between two times'],
] as const;

interface ReportFiltersProps {
  readonly search: ReportSearch;
  readonly error: unknown;
}

/** One resource, one person or one address: choosing one takes the others away, as the API reports about one. */
export function ReportFilters({ search, error }: ReportFiltersProps) {
  const navigate = route.useNavigate();
  const { at, from, to, ...object } = search;
  const apply = (next: Change<ReportSearch>): void =>
    void navigate({ search: changed<ReportSearch>({}, next) });
  return (
    <Filters
      search={search}
      error={error}
      onApply={(entered) => apply(typed(object, entered))}
      onClear={Object.keys(search).length > 0 ? () => apply({}) : undefined}
    >
      <ResourceFilter
        value={search.resourceId}
        onChange={(resourceId) => apply({ at, from, to, resourceId })}
      />
      <UserFilter value={search.userId} onChange={(userId) => apply({ at, from, to, userId })} />
      <TextField
        name="address"
        label="Address"
        placeholder="198.51.100.7"
        required={false}
        defaultValue={search.address ?? ''}
      />
      <SelectFilter
        name="when"
        label="When"
        all="Now"
        options={WHEN}
        value={isBetween(search) ? 'between' : at && 'at'}
        onChange={(when) => apply({ ...object, ...timesOf(when) })}
      />
      {at ? <TimeFilter name="at" label="At" value={at} /> : null}
      {isBetween(search) ? <TimeFilter name="from" label="From" value={from} /> : null}
      {isBetween(search) ? <TimeFilter name="to" label="To" value={to} /> : null}
    </Filters>
  );
}

function timesOf(when: string | undefined): Change<ReportSearch> {
  const now = Date.now();
  const ago = (milliseconds: number): string => new Date(now - milliseconds).toISOString();
  if (when === 'between') return { from: ago(MONTH_MS), to: ago(0) };
  return when === 'at' ? { at: ago(0) } : {};
}

function typed(object: ReportSearch, entered: Entered): Change<ReportSearch> {
  const address = entered.optional('address');
  const time = (name: string): string | undefined => fromLocalField(entered.text(name));
  return {
    ...(address === undefined ? { ...object, address } : { address }),
    at: time('at'),
    from: time('from'),
    to: time('to'),
  };
}
