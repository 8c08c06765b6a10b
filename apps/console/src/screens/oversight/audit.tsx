import { getRouteApi } from '@tanstack/react-router';
import { $api, type Schemas } from '../../api';
import { Badge, Empty, Facts, Loaded, Muted, Page, Pager, Section, Table, TextField, Time } from '../../ui';
import { detailsOf, EVENT_CHOICES, sentenceOf } from './audit-words';
import { Address, AuditLink, Lines, Reason } from './cells';
import { Filters, ResourceFilter, SelectFilter, TimeFilter } from './filters';
import { changed, fromLocalField, type Change, type Search } from './search';

type AuditRecord = Schemas['AuditRecordDto'];

const route = getRouteApi('/signed-in/administrator/audit');
const PAGE_SIZE = 50;

type Filter = Search<'eventType' | 'actorEmail' | 'resourceId' | 'from' | 'to'>;

/** What was done in the organization, by whom. */
export function Audit() {
  const { page = 0, ...filter } = route.useSearch();
  const { eventType, ...others } = filter;
  const query = { ...others, ...(eventType ? { eventType: [eventType] } : {}), page, size: PAGE_SIZE };
  const records = $api.useQuery('get', '/api/v1/audit-logs', { params: { query } });
  return (
    <Page
      title="Audit trail"
      lead="Every change and every sign-in, also those that were refused. A record cannot be changed."
    >
      <AuditFilters filter={filter} error={records.error} />
      <Section>
        <Loaded query={records}>
          {({ content, totalElements }) => (
            <>
              <Table
                caption="Audit records, newest first"
                rows={content}
                keyOf={({ id }) => id}
                empty={
                  <Empty title="No record fits the filters">
                    <Muted>Choose another time or event, or clear the filters.</Muted>
                  </Empty>
                }
                columns={[
                  { head: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
                  { head: 'What', cell: (record) => <What record={record} /> },
                  { head: 'From', cell: ({ ipAddress }) => ipAddress && <Address of={ipAddress} /> },
                ]}
              />
              <Pager page={page} size={PAGE_SIZE} total={totalElements} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function AuditFilters({ filter, error }: { readonly filter: Filter; readonly error: unknown }) {
  const navigate = route.useNavigate();
  const set = (change: Change<Filter>): void => void navigate({ search: changed(filter, change) });
  return (
    <Filters
      search={filter}
      error={error}
      onApply={(entered) =>
        set({
          actorEmail: entered.optional('actorEmail'),
          from: fromLocalField(entered.text('from')),
          to: fromLocalField(entered.text('to')),
        })
      }
      onClear={Object.keys(filter).length > 0 ? () => void navigate({ search: {} }) : undefined}
    >
      <SelectFilter
        name="eventType"
        label="Event"
        all="Every event"
        options={EVENT_CHOICES}
        value={filter.eventType}
        onChange={(eventType) => set({ eventType: eventType as Filter['eventType'] })}
      />
      <ResourceFilter value={filter.resourceId} onChange={(resourceId) => set({ resourceId })} />
      <TextField
        name="actorEmail"
        label="Done by"
        placeholder="ada@example.com"
        type="email"
        required={false}
        defaultValue={filter.actorEmail ?? ''}
      />
      <TimeFilter name="from" label="From" value={filter.from} />
      <TimeFilter name="to" label="To" value={filter.to} />
    </Filters>
  );
}

function What({ record }: { readonly record: AuditRecord }) {
  const { actor, verb, object } = sentenceOf(record);
  return (
    <Lines>
      <span>
        <strong>{actor}</strong> {verb} <strong>{object}</strong>{' '}
        {record.result === 'FAILURE' ? <Badge tone="bad">failed</Badge> : null}
      </span>
      {record.errorMessage ? <Reason isBad>{record.errorMessage}</Reason> : null}
      <details>
        <summary>
          <Muted>Details</Muted>
        </summary>
        <Facts
          of={{
            Event: <code>{record.eventType}</code>,
            'Done by': `${record.actorType} ${record.actorEmail ?? ''} ${record.actorId ?? ''}`,
            Object: record.resourceId ? (
              <>
                {record.resourceType} <AuditLink id={record.resourceId}>{record.resourceId}</AuditLink>
              </>
            ) : null,
            ...detailsOf(record.details),
            Record: <code>{record.id}</code>,
          }}
        />
      </details>
    </Lines>
  );
}
