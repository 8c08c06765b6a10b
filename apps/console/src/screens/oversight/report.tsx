import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, type Schemas } from '../../api';
import { Download } from '../../parts/download';
import { Filters, PERSON, RESOURCE, type Address, type Filter } from '../../parts/filters';
import { RuleText } from '../../parts/rule-events';
import { defined, PAGE_SIZE } from '../../parts/search';
import { CAUSES } from '../../parts/event-texts';
import { Lines, ResourceLink, sentence, SessionLink } from '../../parts/words';
import { Code, Empty, Loaded, Muted, Notice, Page, Pager, Section } from '../../ui';
import { Table, Time, ZoneSwitch, type Column } from '../../ui';

type Item = Schemas['AccessItemDto'];

const route = getRouteApi('/signed-in/administrator/report');

/** Who had access when, derived from what was observed. */
export function Report() {
  const { page = 0, ...search } = route.useSearch();
  const isPast = search.at !== undefined || search.from !== undefined;
  const lacksObject = search.from !== undefined && !(search.resourceId ?? search.userId ?? search.address);
  const report = $api.useQuery(
    'get',
    '/api/v1/reports/access',
    { params: { query: defined(search) } },
    { enabled: !lacksObject, ...(isPast ? { refetchInterval: false } : {}) },
  );
  return (
    <Page
      title="Access report"
      lead="Who had access when, as it was observed. It is about the rules; whether anybody connected is not known here."
      actions={<Download name="access" path="/api/v1/reports/access" query={search} />}
    >
      <Section
        title={isPast ? 'Access then' : 'Access now: give times to see the past'}
        actions={<ZoneSwitch />}
      >
        <ReportFilters />
        {lacksObject ? (
          <Notice>Choose a resource, a person or an address to see what was between two times.</Notice>
        ) : (
          <Loaded query={report}>
            {(answer) => {
              // without a format, it is no text
              const items = answer as Item[];
              return (
                <>
                  <Table
                    caption="Access"
                    columns={COLUMNS}
                    rows={items.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)}
                    // no part of an item is unique: a holder may have had access several times
                    keyOf={(item) => JSON.stringify(item)}
                    empty={<Empty title={isPast ? 'There was no access then' : 'There is no access now'} />}
                  />
                  <Pager page={page} size={PAGE_SIZE} total={items.length} />
                </>
              );
            }}
          </Loaded>
        )}
      </Section>
    </Page>
  );
}

const OBJECTS: readonly Filter[] = [
  RESOURCE,
  PERSON,
  { name: 'address', label: 'Address', placeholder: '198.51.100.7' },
];
const FILTERS = [
  ...OBJECTS,
  { name: 'from', label: 'At, or from', isTime: true },
  { name: 'to', label: 'Until', isTime: true },
];

/** One resource, one person or one address: choosing one takes the others away, as the API reports about one. */
function ReportFilters() {
  const { page: _, at, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const address = { ...search, from: search.from ?? at };
  const change = (next: Address): void => {
    const isOther = OBJECTS.some(({ name }) => next[name] !== undefined);
    const objects = isOther ? Object.fromEntries(OBJECTS.map(({ name }) => [name, undefined])) : {};
    const { from, to, ...object }: Address = { ...address, ...objects, ...next };
    void navigate({ search: { ...object, ...(to === undefined ? { at: from } : { from, to }) } });
  };
  return <Filters filters={FILTERS} address={address} onChange={change} />;
}

const COLUMNS: readonly Column<Item>[] = [
  { head: 'Who', cell: (item) => <Holder {...item} /> },
  { head: 'From', cell: (item) => <RuleText {...item} /> },
  {
    head: 'To',
    cell: ({ resource: { id, name }, target }) => (
      <Lines>
        <ResourceLink id={id}>{name}</ResourceLink>
        <Muted>{target.provider}</Muted>
        <Code>{target.identifier}</Code>
      </Lines>
    ),
  },
  {
    head: 'When',
    cell: ({ certainFrom, certainUntil, possibleFrom, possibleUntil }) => (
      <Lines>
        <span>
          <Muted>seen open</Muted> <Time at={certainFrom} none="not once" isExact />{' '}
          {certainUntil === null ? null : '– '}
          {certainUntil === null ? null : <Time at={certainUntil} isExact />}
        </span>
        <span>
          <Muted>possible</Muted>{' '}
          {possibleFrom === null ? 'before it was first read' : <Time at={possibleFrom} isExact />} –{' '}
          {possibleUntil === null ? 'no end seen' : <Time at={possibleUntil} isExact />}
        </span>
      </Lines>
    ),
  },
  {
    head: 'Why',
    cell: ({ cause, reason, ticket, approvers, breakGlass }) => (
      <Lines>
        {cause === null ? null : <span>{sentence(CAUSES[cause])}</span>}
        {reason === null ? null : <span>{reason}</span>}
        {ticket === null ? null : <Muted>{ticket}</Muted>}
        {approvers.length === 0 ? null : <Muted>approved by {approvers.join(', ')}</Muted>}
        {breakGlass ? <Muted>without approval</Muted> : null}
      </Lines>
    ),
  },
];

const HOLDERS: Readonly<Record<Item['holderKind'], string>> = {
  SESSION: 'Session',
  STATIC_RULE: 'Static IP rule',
  ORPHAN: 'No holder: it is being removed',
  UNMANAGED: 'Unmanaged rule',
  OTHER: 'Another organization',
};

function Holder({ holderKind, holderId, userEmail }: Item) {
  const kind = HOLDERS[holderKind];
  return (
    <Lines>
      {userEmail}
      {holderId === null ? (
        kind
      ) : holderKind === 'SESSION' ? (
        <SessionLink id={holderId}>{kind}</SessionLink>
      ) : (
        // the rule itself may be deleted
        <Link to="/audit" search={{ resourceId: holderId }}>
          {kind}
        </Link>
      )}
    </Lines>
  );
}
