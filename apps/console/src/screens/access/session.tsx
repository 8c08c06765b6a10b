import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, live } from '../../api';
import { useMe } from '../../layout/me';
import { Outcomes } from '../../parts/outcomes';
import { RuleEvents } from '../../parts/rule-events';
import { ExtendButton, StopAction, StopOtherButton } from '../../parts/session-actions';
import {
  addressesOf,
  endOf,
  headlineOf,
  isLive,
  isUnsettled,
  STATUS,
  type Session,
} from '../../parts/sessions';
import { Lines, wordsOf } from '../../parts/words';
import { Badge, Facts, Loaded, Page, Section, Time, TimeLeft } from '../../ui';

const route = getRouteApi('/signed-in/sessions/$id');

/** One session: one's own, or anybody's for an administrator. */
export function SessionScreen() {
  const { id } = route.useParams();
  const { page } = route.useSearch();
  const me = useMe();
  const path = { params: { path: { id } } };
  const session = $api.useQuery('get', '/api/v1/sessions/{id}', path, live<Session>(isUnsettled));
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
            <RuleEvents of="sessions" id={id} page={page} isUnsettled={isUnsettled(data)} />
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

function SessionFacts({ session, isOwn }: { readonly session: Session; readonly isOwn: boolean }) {
  const { status, userId, userName, userEmail, startedAt, endedAt, endedReason, leaseUntil, holder } =
    session;
  const [text, tone] = STATUS[status];
  const isOpen = isLive(session);
  const who = (
    <>
      <Link to="/people/$id" params={{ id: userId }}>
        {userName}
      </Link>{' '}
      ({userEmail})
    </>
  );
  const until = (
    <>
      <Time at={endOf(session)} /> (<TimeLeft until={endOf(session)} />)
    </>
  );
  const addresses = addressesOf(session).map((address) => <code key={address}>{address}</code>);
  return (
    <Facts
      of={{
        Status: (
          <span role="status">
            <Badge tone={tone}>{text}</Badge>
          </span>
        ),
        Who: isOwn ? 'You' : who,
        Addresses: <Lines>{addresses}</Lines>,
        Holder: holder,
        Started: <Time at={startedAt} />,
        Until: isOpen ? until : null,
        Lease: isOpen && leaseUntil !== null ? LEASE_HINT : null,
        Ended: endedAt === null ? null : <Time at={endedAt} />,
        Reason: endedReason === null ? null : wordsOf(endedReason),
      }}
    />
  );
}

const LEASE_HINT = 'A program keeps it open; it closes soon after the program ends.';
