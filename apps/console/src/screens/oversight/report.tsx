import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { Action, Empty, Loaded, Muted, Page, Pager, Section, TextField, type Entered } from '../../ui';
import { Filters, ResourceFilter, SelectFilter, TimeFilter, UserFilter } from './filters';
import { AccessTable } from './access-table';
import { changed, fromLocalField, type Search } from './search';

const route = getRouteApi('/signed-in/administrator/report');
/** The API returns everything at once; the browser shows it in pages. */
const PAGE_SIZE = 100;
const MONTH_MS = 30 * 24 * 3_600_000;

type ReportSearch = Search<'resourceId' | 'userId' | 'address' | 'at' | 'from' | 'to'>;
type Change = Parameters<typeof changed<ReportSearch>>[1];

/** Who had access when, derived from what was observed. */
export function Report() {
  const { page = 0, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const apply = (next: Change): void => void navigate({ search: changed<ReportSearch>({}, next) });
  const isPast = search.at !== undefined || search.from !== undefined || search.to !== undefined;
  const report = $api.useQuery(
    'get',
    '/api/v1/reports/access',
    { params: { query: search } },
    isPast ? { refetchInterval: false } : {},
  );
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title="Access report"
      lead="Who had access when, as it was observed. It is about the rules; whether anybody connected is not known here."
      actions={<Download search={search} />}
    >
      <Filters
        search={search}
        error={report.error}
        onApply={(entered) => apply(typed(search, entered))}
        onClear={isFiltered ? () => apply({}) : undefined}
      >
        <ResourceFilter
          value={search.resourceId}
          onChange={(resourceId) => apply({ ...timesOf(search), resourceId })}
        />
        <UserFilter value={search.userId} onChange={(userId) => apply({ ...timesOf(search), userId })} />
        <TextField
          name="address"
          label="Address"
          placeholder="198.51.100.7"
          required={false}
          defaultValue={search.address ?? ''}
        />
        <When search={search} apply={apply} />
      </Filters>
      <Section>
        <Loaded query={report}>
          {(items) => (
            // without a format, it is no text
            <>
              <AccessTable
                items={(items as Schemas['AccessItemDto'][]).slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)}
                empty={
                  <Empty title={isPast ? 'Nobody had access then' : 'Nobody has access now'}>
                    <Muted>Choose another time, or clear the filters.</Muted>
                  </Empty>
                }
              />
              <Pager page={page} size={PAGE_SIZE} total={items.length} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

const timesOf = ({ at, from, to }: ReportSearch): Change => ({ at, from, to });

/** The API reports on one resource, one person or one address: a newly entered address replaces the others. */
function typed(search: ReportSearch, entered: Entered): Change {
  const address = entered.optional('address');
  const time = (name: 'at' | 'from' | 'to'): string | undefined => fromLocalField(entered.text(name));
  const object =
    address === undefined ? { resourceId: search.resourceId, userId: search.userId } : { address };
  return { ...object, at: time('at'), from: time('from'), to: time('to') };
}

const WHEN = [
  ['at', 'At a time'],
  ['between', 'Between two times'],
] as const;

function When({ search, apply }: { search: ReportSearch; apply: (next: Change) => void }) {
  const { at, from, to, ...object } = search;
  const isBetween = from !== undefined || to !== undefined;
  const choose = (when: string | undefined): void => {
    const now = Date.now();
    const time = (ago: number): string => new Date(now - ago).toISOString();
    if (when === 'at') apply({ ...object, at: time(0) });
    else if (when === 'between') apply({ ...object, from: time(MONTH_MS), to: time(0) });
    else apply(object);
  };
  return (
    <>
      <SelectFilter
        name="when"
        label="When"
        all="Now"
        options={WHEN}
        value={isBetween ? 'between' : at && 'at'}
        onChange={choose}
      />
      {at ? <TimeFilter name="at" label="At" value={at} /> : null}
      {isBetween ? <TimeFilter name="from" label="From" value={from} /> : null}
      {isBetween ? <TimeFilter name="to" label="To" value={to} /> : null}
    </>
  );
}

/** The whole report as a file. A link could not carry the access token, so that the file is fetched first. */
function Download({ search }: { readonly search: ReportSearch }) {
  const [name, setName] = useState<string | null>(null);
  const download = async (): Promise<void> => {
    const { data } = await api.GET('/api/v1/reports/access', {
      params: { query: { ...search, format: 'csv' } },
      parseAs: 'blob',
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(data as unknown as Blob);
    link.download = `access-${new Date().toISOString().slice(0, 10)}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
    setName(link.download);
  };
  return (
    <>
      <Action label="Download as CSV" busy="Fetching the file…" act={download} />
      <span role="status">{name === null ? null : <Muted>Saved as {name}</Muted>}</span>
    </>
  );
}
