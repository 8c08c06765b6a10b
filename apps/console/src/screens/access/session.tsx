import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, live } from '../../api';
import { useMe } from '../../layout/me';
import { Badge, Facts, Loaded, Page, Section, Time, TimeLeft } from '../../ui';
import { Outcomes } from '../../parts/outcomes';
import { ExtendButton, StopAction, StopOtherButton } from '../../parts/session-actions';
import { SessionEvents } from './session-events';
import {
  addressesOf,
  endOf,
  headlineOf,
  isLive,
  isUnsettled,
  STATUS,
  type Session,
} from '../../parts/sessions';

const route = getRouteApi('/signed-in/sessions/$id');

/** One session: one's own, or anybody's for an administrator. */
export function SessionScreen() {
  const { id } = route.useParams();
  const { page = 0 } = route.useSearch();
  const me = useMe();
  const session = $api.useQuery(
    'get',
    '/api/v1/sessions/{id}',
    { params: { path: { id } } },
    live<Session>(isUnsettled),
  );
  return (
    <Page
      title={session.data ? headlineOf(session.data) : 'Session'}
      actions={session.data && me.data ? <Actions session={session.data} myId={me.data.id} /> : null}
    >
      <Loaded query={session}>
        {(data) => (
          <>
            <Section title="Session">
              <SessionFacts session={data} isOwn={data.userId === me.data?.id} />
            </Section>
            <Section title="Resources">
              <Outcomes session={data} />
            </Section>
            <SessionEvents id={id} page={page} isUnsettled={isUnsettled(data)} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ session, myId }: { readonly session: Session; readonly myId: string }) {
  if (!isLive(session)) return null;
  if (session.userId !== myId) return <StopOtherButton session={session} />;
  return (
    <>
      <ExtendButton session={session} />
      <StopAction session={session} />
    </>
  );
}

const ENDED_BY = {
  EXPIRED: 'its time was over',
  MANUAL: 'stopped',
  ADMIN: 'stopped by an administrator',
} as const;

function SessionFacts({ session, isOwn }: { readonly session: Session; readonly isOwn: boolean }) {
  const { status, startedAt, endedAt, endedReason, leaseUntil, holder } = session;
  const [text, tone] = STATUS[status];
  const isOpen = isLive(session);
  return (
    <Facts
      of={{
        Status: (
          <span role="status">
            <Badge tone={tone}>{text}</Badge>
          </span>
        ),
        Who: isOwn ? 'You' : <Who session={session} />,
        Addresses: addressesOf(session).map((address) => (
          <div key={address}>
            <code>{address}</code>
          </div>
        )),
        Holder: holder,
        Started: <Time at={startedAt} />,
        Until: isOpen ? (
          <>
            <Time at={endOf(session)} /> (<TimeLeft until={endOf(session)} />)
          </>
        ) : null,
        Lease:
          isOpen && leaseUntil !== null
            ? 'A program keeps it open; it closes soon after the program ends.'
            : null,
        Ended: endedAt === null ? null : <Time at={endedAt} />,
        Reason: endedReason === null ? null : ENDED_BY[endedReason],
      }}
    />
  );
}

const Who = ({ session: { userId, userName, userEmail } }: { readonly session: Session }) => (
  <>
    <Link to="/people/$id" params={{ id: userId }}>
      {userName}
    </Link>{' '}
    ({userEmail})
  </>
);
