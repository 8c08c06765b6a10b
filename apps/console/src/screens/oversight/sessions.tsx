import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, serverNow, useList } from '../../api';
import { Collection } from '../../parts/collection';
import { PERSON, RESOURCE, statusFilter, TIMES } from '../../parts/filters';
import { LockdownActions } from '../../parts/lockdown';
import { sessionsOf } from '../../parts/session-table';
import { LIVE, STATUS, type Session } from '../../parts/sessions';
import { count, sentence } from '../../parts/words';
import { ButtonLink, Empty, Muted, Page, Section, TabLinks } from '../../ui';
import { StaticRuleTable } from './static-rules';

const route = getRouteApi('/signed-in/administrator/open');
/** A rule is usually removed in a few seconds. */
const LATE_AFTER_MS = 60_000;

/** Not as it should be: refused in part, or not closed in time. */
const isAmiss = ({ status, endedAt }: Session): boolean =>
  status === 'PARTIAL' ||
  (status === 'EXPIRING' && endedAt !== null && serverNow() - Date.parse(endedAt) > LATE_AFTER_MS);

const WHOSE = [PERSON, RESOURCE];
const ALL = [statusFilter(STATUS), ...WHOSE, ...TIMES];

const TABS = [
  ['Open now', undefined],
  ['All', 'all'],
] as const;

const OPEN = { status: [...LIVE, 'EXPIRING'] };

/** Who has access to what now, and who had it. */
export function Sessions() {
  const { tab, userId, resourceId } = route.useSearch();
  const { data: organization } = $api.useQuery('get', '/api/v1/organization');
  const isOpen = tab === undefined;
  return (
    <Page
      title="Sessions"
      lead={
        isOpen
          ? 'Everybody who can reach your resources through Drawbridge at this moment.'
          : 'What everybody opened, newest first: how it ended, and why.'
      }
      actions={
        organization && organization.lockdown === null ? (
          <LockdownActions userId={null} name={organization.name} lockdown={null} />
        ) : null
      }
    >
      <TabLinks label="Sessions" tabs={TABS} search={{ userId, resourceId }} />
      <Section>
        <Collection
          key={tab}
          caption={isOpen ? 'Open sessions' : 'Sessions, newest first'}
          path="/api/v1/sessions/admin"
          {...sessionsOf('everybody')}
          {...(isOpen ? { query: OPEN, filters: WHOSE, isFirst: isAmiss } : { filters: ALL })}
          empty={
            <Empty title={isOpen ? 'No session is open' : 'There was no session yet'}>
              <ButtonLink to="/report">Access report</ButtonLink>
            </Empty>
          }
        />
      </Section>
      {isOpen && userId === undefined ? <AlwaysOpen resourceId={resourceId} /> : null}
    </Page>
  );
}

/** The screen is about sessions. */
const MAX_ALWAYS_OPEN = 5;
const NOT_ENDED = ['FAILED', 'PARTIAL', 'PENDING', 'ACTIVE', 'CLOSED'];

/** Addresses that are let in without a session. */
function AlwaysOpen({ resourceId }: { resourceId: string | undefined }) {
  const query = { resourceId, status: NOT_ENDED, size: MAX_ALWAYS_OPEN };
  const { items, total } = useList('/api/v1/static-ip-rules', { query }).data ?? { items: [], total: 0 };
  return total === 0 ? null : (
    <Section
      title="Let in without a session"
      actions={<Link to="/static-rules">{sentence(count(total, 'static IP rule'))}</Link>}
    >
      <StaticRuleTable rules={items} />
      {total > MAX_ALWAYS_OPEN ? <Muted>and {count(total - MAX_ALWAYS_OPEN, 'other')}</Muted> : null}
    </Section>
  );
}
