import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, useList } from '../../api';
import {
  Badge,
  Button,
  ButtonLink,
  Empty,
  Filters,
  Loaded,
  Page,
  Pager,
  Section,
  SelectField,
  Table,
  TextField,
  Time,
  type Column,
} from '../../ui';
import styles from './access.module.css';
import { historyQuery, type HistorySearch } from './history-search';
import {
  addressesOf,
  endOf,
  isLive,
  isUnsettled,
  resourcesOf,
  STATUS,
  STATUSES,
  type Session,
} from '../../parts/sessions';

const route = getRouteApi('/signed-in/history');
const PAGE_SIZE = 25;

/** One's own sessions, newest first. */
export function History() {
  const search = route.useSearch();
  const sessions = useList(
    '/api/v1/sessions',
    { query: historyQuery(search, PAGE_SIZE) },
    { isUnsettled: ({ items }) => items.some(isUnsettled) },
  );
  return (
    <Page title="History" lead="Your sessions, newest first.">
      <Section>
        <HistoryFilters search={search} />
        <Loaded query={sessions}>
          {({ items, total }) => (
            <>
              <Table
                caption="Your sessions"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                empty={<NoSessions isFiltered={isFiltered(search)} />}
              />
              <Pager page={search.page ?? 0} size={PAGE_SIZE} total={total} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

const isFiltered = ({ page: _, ...filters }: HistorySearch): boolean => Object.keys(filters).length > 0;

const COLUMNS: readonly Column<Session>[] = [
  {
    head: 'Started',
    cell: ({ id, startedAt }) => (
      <Link to="/sessions/$id" params={{ id }}>
        <Time at={startedAt} />
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge tone={STATUS[status][1]}>{STATUS[status][0]}</Badge> },
  {
    head: 'Until',
    cell: (session) => {
      const end = isLive(session) ? endOf(session) : session.endedAt;
      return end === null ? null : <Time at={end} />;
    },
  },
  { head: 'Resources', cell: (session) => namesOf(session) },
  {
    head: 'Address',
    cell: (session) => (
      <div>
        {addressesOf(session).map((address) => (
          <div key={address}>
            <code className={styles['whole']}>{address}</code>
          </div>
        ))}
        {session.holder === null ? null : <div>for {session.holder}</div>}
      </div>
    ),
  },
];

const NAMES_SHOWN = 3;

function namesOf(session: Session): string {
  const names = resourcesOf(session).map(({ name }) => name);
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const NoSessions = ({ isFiltered: filtered }: { readonly isFiltered: boolean }) =>
  filtered ? (
    <Empty title="No session fits these filters" />
  ) : (
    <Empty title="You have not had access yet">
      <ButtonLink to="/">Let me in</ButtonLink>
    </Empty>
  );

/** They apply at once, and are kept in the address. */
function HistoryFilters({ search }: { readonly search: HistorySearch }) {
  const navigate = route.useNavigate();
  const { data: resources = [] } = useAll('/api/v1/resources', { assigned: true });
  const { page: _, ...current } = search;
  const change = (name: keyof HistorySearch) => (value: string) => {
    // what does not fit is ignored where the address is read
    const changed = { ...current, [name]: value || undefined } as HistorySearch;
    void navigate({ search: changed, replace: true });
  };
  return (
    <Filters>
      <SelectField
        name="status"
        label="Status"
        value={search.status ?? ''}
        onChange={change('status')}
        options={[['', 'Every status'], ...STATUSES.map((status) => [status, STATUS[status][0]] as const)]}
      />
      <SelectField
        name="resourceId"
        label="Resource"
        value={search.resourceId ?? ''}
        onChange={change('resourceId')}
        options={[['', 'Every resource'], ...optionsOf(resources, search.resourceId)]}
      />
      {(['from', 'to'] as const).map((name) => (
        <TextField
          key={name}
          name={name}
          label={name === 'from' ? 'From' : 'To'}
          type="date"
          required={false}
          value={search[name] ?? ''}
          onChange={(event) => change(name)(event.target.value)}
        />
      ))}
      {isFiltered(search) ? (
        <Button kind="plain" onClick={() => void navigate({ search: {}, replace: true })}>
          Clear filters
        </Button>
      ) : null}
    </Filters>
  );
}

type Named = { readonly id: string; readonly name: string };

/** A resource that one had once can be in the address, too. */
function optionsOf(resources: readonly Named[], chosen: string | undefined): (readonly [string, string])[] {
  const options = resources.map(({ id, name }) => [id, name] as const);
  const isKnown = chosen === undefined || resources.some(({ id }) => id === chosen);
  return isKnown ? options : [...options, [chosen, 'Another resource'] as const];
}
