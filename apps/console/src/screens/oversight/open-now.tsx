import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, serverNow, useAll, useList, type Schemas } from '../../api';
import { LockdownActions } from '../../parts/lockdown';
import { Filters, ResourceFilter, UserFilter } from '../../parts/filters';
import { PAGE_SIZE } from '../../parts/listed';
import { isFiltered } from '../../parts/search';
import { SessionTable } from '../../parts/session-table';
import { isUnsettled, LIVE, type Session } from '../../parts/sessions';
import { count, sentence } from '../../parts/words';
import { ButtonLink, Empty, Loaded, Muted, Notice, Page, Pager, Section } from '../../ui';
import { StaticRuleTable } from './static-rules';

const route = getRouteApi('/signed-in/administrator/open');
/** A rule is usually removed in a few seconds. */
const LATE_AFTER_MS = 60_000;

/** Not as it should be: refused in part, or not closed in time. */
const isAmiss = ({ status, endedAt }: Session): boolean =>
  status === 'PARTIAL' ||
  (status === 'EXPIRING' && endedAt !== null && serverNow() - Date.parse(endedAt) > LATE_AFTER_MS);

/** Who has access to what, now. */
export function OpenNow() {
  const { page = 0, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: organization } = $api.useQuery('get', '/api/v1/organization');
  const set = (change: typeof filter): void => void navigate({ search: { ...filter, ...change } });
  const open = useList(
    '/api/v1/sessions/admin',
    { query: { ...filter, status: [...LIVE, 'EXPIRING'], page, size: PAGE_SIZE } },
    { isUnsettled: ({ items }) => items.some(isUnsettled) },
  );
  return (
    <Page
      title="Open now"
      lead="Everybody who can reach your resources through Drawbridge at this moment."
      actions={
        organization && organization.lockdown === null ? (
          <LockdownActions userId={null} name={organization.name} lockdown={null} />
        ) : null
      }
    >
      <Filters
        search={filter}
        error={open.error}
        onClear={isFiltered(filter) ? () => void navigate({ search: {} }) : undefined}
      >
        <UserFilter value={filter.userId} onChange={(userId) => set({ userId })} />
        <ResourceFilter value={filter.resourceId} onChange={(resourceId) => set({ resourceId })} />
      </Filters>
      <Section title="Sessions">
        <Loaded query={open}>
          {({ items, total }) => {
            const amiss = items.filter(isAmiss);
            return (
              <>
                {amiss.length === 0 ? null : (
                  <Notice tone="warn">Needs attention: {count(amiss.length, 'session')}, shown first.</Notice>
                )}
                <SessionTable
                  caption="Open sessions"
                  of="everybody"
                  sessions={[...amiss, ...items.filter((session) => !amiss.includes(session))]}
                  empty={
                    <Empty title="No session is open">
                      <ButtonLink to="/report">Access report</ButtonLink>
                    </Empty>
                  }
                />
                <Pager page={page} size={PAGE_SIZE} total={total} />
              </>
            );
          }}
        </Loaded>
      </Section>
      {filter.userId === undefined ? <AlwaysOpen resourceId={filter.resourceId} /> : null}
    </Page>
  );
}

const fine = ({ status }: Schemas['StaticIpRuleDto']): number => Number(status === 'ACTIVE');
/** The screen is about sessions. */
const MAX_ALWAYS_OPEN = 5;

/** Addresses that are let in without a session, those first that are not as they should be. */
function AlwaysOpen({ resourceId }: { resourceId: string | undefined }) {
  const { data = [] } = useAll('/api/v1/static-ip-rules');
  const rules = data.filter(({ status }) => status !== 'EXPIRED');
  const shown = rules.filter(
    ({ resources }) => resourceId === undefined || resources.some((entry) => entry.resourceId === resourceId),
  );
  return shown.length === 0 ? null : (
    <Section
      title="Let in without a session"
      actions={<Link to="/static-rules">{sentence(count(rules.length, 'static IP rule'))}</Link>}
    >
      <StaticRuleTable
        rules={shown.toSorted((a, b) => fine(a) - fine(b)).slice(0, MAX_ALWAYS_OPEN)}
        empty={null}
      />
      {shown.length > MAX_ALWAYS_OPEN ? (
        <Muted>and {count(shown.length - MAX_ALWAYS_OPEN, 'other')}</Muted>
      ) : null}
    </Section>
  );
}
