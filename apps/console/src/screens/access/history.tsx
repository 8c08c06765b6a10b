import { getRouteApi } from '@tanstack/react-router';
import { useList } from '../../api';
import { Filters, ResourceFilter, SelectFilter, TimeFilter } from '../../parts/filters';
import { PAGE_SIZE } from '../../parts/listed';
import { isFiltered } from '../../parts/search';
import { SessionTable } from '../../parts/session-table';
import { isUnsettled, STATUS, STATUSES } from '../../parts/sessions';
import { ButtonLink, Empty, fromLocalField, Loaded, Page, Pager, Section } from '../../ui';

const route = getRouteApi('/signed-in/history');
const STATUS_OPTIONS = STATUSES.map((status) => [status, STATUS[status][0]] as const);

/** One's own sessions. */
export function History() {
  const { page = 0, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (search: typeof filters): void => void navigate({ search });
  const sessions = useList(
    '/api/v1/sessions',
    { query: { ...filters, page, size: PAGE_SIZE } },
    { isUnsettled: ({ items }) => items.some(isUnsettled) },
  );
  const letMeIn = <ButtonLink to="/">Let me in</ButtonLink>;
  return (
    <Page title="History" lead="Your sessions, newest first.">
      <Section>
        <Filters
          search={filters}
          error={sessions.error}
          onApply={(entered) => {
            const from = fromLocalField(entered.text('from'));
            show({ ...filters, from, to: fromLocalField(entered.text('to')) });
          }}
          onClear={isFiltered(filters) ? () => show({}) : undefined}
        >
          <SelectFilter
            name="status"
            label="Status"
            all="Every status"
            options={STATUS_OPTIONS}
            value={filters.status}
            onChange={(status) => show({ ...filters, status })}
          />
          <ResourceFilter
            isOwn
            value={filters.resourceId}
            onChange={(resourceId) => show({ ...filters, resourceId })}
          />
          <TimeFilter name="from" label="From" value={filters.from} />
          <TimeFilter name="to" label="To" value={filters.to} />
        </Filters>
        <Loaded query={sessions}>
          {({ items, total }) => (
            <>
              <SessionTable
                caption="Your sessions"
                of="own"
                sessions={items}
                empty={<Empty title="No sessions">{letMeIn}</Empty>}
              />
              <Pager page={page} size={PAGE_SIZE} total={total} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
