import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAll, useList, type List, type Schemas } from '../../api';
import { ButtonLink, Empty, Loaded, Muted, Page, Pager, Row, Section } from '../../ui';
import { Filters, ResourceFilter, UserFilter } from './filters';
import { isLive, SessionTable } from './session-table';
import { changed } from './search';
import { StaticRuleTable } from './static-rule-table';

type Session = Schemas['SessionDto'];

const route = getRouteApi('/signed-in/administrator/open');
const PAGE_SIZE = 50;
/** A rule is usually removed in a few seconds. */
const LATE_AFTER_MS = 60_000;
const MAX_STATIC_RULES = 10;

const isUnsettled = ({ items }: List<Session>): boolean =>
  items.some(({ status }) => status === 'PENDING' || status === 'EXPIRING');

/** Its rules should be gone by now. */
const isLate = ({ status, endedAt }: Session): boolean =>
  status === 'EXPIRING' && endedAt !== null && Date.now() - Date.parse(endedAt) > LATE_AFTER_MS;

/** Who has access to what, now. */
export function OpenNow() {
  const { page = 0, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const status = ['PENDING', 'ACTIVE', 'EXPIRING'];
  const query = { ...filter, status, page, size: PAGE_SIZE };
  const open = useList('/api/v1/sessions/admin', { query }, { isUnsettled });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Page title="Open now" lead="Everybody who can reach your resources through Drawbridge at this moment.">
      <Filters
        search={filter}
        error={open.error}
        onClear={isFiltered ? () => void navigate({ search: {} }) : undefined}
      >
        <UserFilter
          value={filter.userId}
          onChange={(userId) => void navigate({ search: changed(filter, { userId }) })}
        />
        <ResourceFilter
          value={filter.resourceId}
          onChange={(resourceId) => void navigate({ search: changed(filter, { resourceId }) })}
        />
      </Filters>
      <Attention filter={filter} />
      <Section title="Sessions">
        <Loaded query={open}>
          {({ items, total }) => (
            <>
              <SessionTable
                caption="Open sessions"
                sessions={items.filter((session) => !isLate(session))}
                empty={<NoSessions isFiltered={isFiltered} />}
              />
              <Pager page={page} size={PAGE_SIZE} total={total} />
            </>
          )}
        </Loaded>
      </Section>
      {filter.userId === undefined ? <StaticRules resourceId={filter.resourceId} /> : null}
    </Page>
  );
}

const NoSessions = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No session is open that fits the filters" />
  ) : (
    <Empty title="No session is open">
      <Muted>Members start one on their own screen; it appears here at once.</Muted>
      <Row>
        <ButtonLink to="/">Open your own access</ButtonLink>
        <ButtonLink to="/report">See who had access before</ButtonLink>
      </Row>
    </Empty>
  );

interface Filter {
  readonly userId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** Sessions that are not as they should be: open in part, closing for too long, or failed while their time runs. */
function Attention({ filter }: { readonly filter: Filter }) {
  const [start] = useState(() => new Date().toISOString());
  const running = useList(
    '/api/v1/sessions/admin',
    { query: { ...filter, status: ['PARTIAL', 'EXPIRING'], size: 100 } },
    { isUnsettled },
  );
  const failed = useList('/api/v1/sessions/admin', {
    query: { ...filter, status: ['FAILED'], from: start, size: PAGE_SIZE },
  });
  const sessions = [
    ...(running.data?.items.filter((session) => isLate(session) || isLive(session)) ?? []),
    ...(failed.data?.items ?? []),
  ];
  if (sessions.length === 0) return null;
  return (
    <Section title={`Needs attention (${sessions.length})`}>
      <SessionTable caption="Sessions that need attention" sessions={sessions} empty={null} />
    </Section>
  );
}

/** Addresses that are let in without a session. */
function StaticRules({ resourceId }: { readonly resourceId: string | undefined }) {
  const rules = useAll('/api/v1/static-ip-rules');
  const shown = rules.data?.filter(
    ({ resources }) => resourceId === undefined || resources.some((entry) => entry.resourceId === resourceId),
  );
  if (!shown?.length) return null;
  return (
    <Section title="Always open" actions={<Link to="/static-rules">All static IP rules</Link>}>
      <StaticRuleTable rules={shown.slice(0, MAX_STATIC_RULES)} empty={null} />
      {shown.length > MAX_STATIC_RULES ? <Muted>and {shown.length - MAX_STATIC_RULES} more</Muted> : null}
    </Section>
  );
}
