import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { Action, Empty, Loaded, Muted, Page, Pager, Section } from '../../ui';
import { AccessTable } from './access-table';
import { isBetween, ReportFilters, type ReportSearch } from './report-filters';

const route = getRouteApi('/signed-in/administrator/report');
/** The API returns everything at once; the browser shows it in pages. */
const PAGE_SIZE = 100;

/** Who had access when, derived from what was observed. */
export function Report() {
  const { page = 0, ...search } = route.useSearch();
  const isPast = search.at !== undefined || isBetween(search);
  // the API reports about everything only for one point in time
  const isComplete = !isBetween(search) || Boolean(search.resourceId ?? search.userId ?? search.address);
  const report = $api.useQuery(
    'get',
    '/api/v1/reports/access',
    { params: { query: search } },
    { enabled: isComplete, ...(isPast ? { refetchInterval: false } : {}) },
  );
  return (
    <Page
      title="Access report"
      lead="Who had access when, as it was observed. It is about the rules; whether anybody connected is not known here."
      actions={isComplete ? <Download search={search} /> : null}
    >
      <ReportFilters search={search} error={report.error} />
      <Section>
        {isComplete ? (
          <Loaded query={report}>
            {(answer) => {
              // without a format, it is no text
              const items = answer as Schemas['AccessItemDto'][];
              return (
                <>
                  <AccessTable
                    items={items.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)}
                    empty={
                      <Empty title={isPast ? 'Nobody had access then' : 'Nobody has access now'}>
                        <Muted>Choose another time, or clear the filters.</Muted>
                      </Empty>
                    }
                  />
                  <Pager page={page} size={PAGE_SIZE} total={items.length} />
                </>
              );
            }}
          </Loaded>
        ) : (
          <Empty title="Choose a resource, a person or an address">
            <Muted>A report about more than a point in time is about one of them.</Muted>
          </Empty>
        )}
      </Section>
    </Page>
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
