import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api, live } from '../../api';
import { useMe } from '../../layout/me';
import { Outcomes } from '../../parts/outcomes';
import { RuleEvents } from '../../parts/rule-events';
import { SessionActions } from '../../parts/session-actions';
import { addressesOf, endOf, headlineOf, isLive, isUnsettled, STATUS } from '../../parts/sessions';
import type { Session } from '../../parts/sessions';
import { CAUSES } from '../../parts/event-texts';
import { Lines, RequestLink, Ticket, UserLink } from '../../parts/words';
import { Badge, Code, Facts, Loaded, Page, Section, Time, TimeLeft, unbroken } from '../../ui';

const route = getRouteApi('/signed-in/sessions/$id');

/** One session: one's own, or anybody's for an administrator. */
export function SessionScreen() {
  const { id } = route.useParams();
  const me = useMe();
  const path = { params: { path: { id } } };
  const session = $api.useQuery('get', '/api/v1/sessions/{id}', path, live<Session>(isUnsettled));
  const isOwn = session.data?.userId === me.data?.id;
  return (
    <Page
      title={session.data ? headlineOf(session.data) : 'Session'}
      actions={session.data && me.data ? <SessionActions session={session.data} isOwn={isOwn} /> : null}
    >
      <Loaded query={session}>
        {(data) => (
          <>
            <Section title="Session">
              <Facts of={factsOf(data, isOwn)} />
            </Section>
            <Section title="Resources">
              <Outcomes session={data} />
            </Section>
            <RuleEvents of="sessions" id={id} isUnsettled={isUnsettled(data)} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function factsOf(session: Session, isOwn: boolean): Readonly<Record<string, ReactNode>> {
  const {
    status,
    userId,
    userName,
    userEmail,
    holder,
    startedAt,
    endedAt,
    endedReason,
    endedCause,
    leaseUntil,
  } = session;
  const who = (
    <>
      <UserLink id={userId}>{userName}</UserLink> ({unbroken(userEmail)})
    </>
  );
  const until = (
    <>
      <Time at={endOf(session)} /> (<TimeLeft until={endOf(session)} />
      {leaseUntil === null ? '' : ', unless its program renews it'})
    </>
  );
  return {
    Status: <Badge tone={STATUS[status][1]}>{STATUS[status][0]}</Badge>,
    Who: isOwn ? 'You' : who,
    From: (
      <Lines>
        {addressesOf(session).map((address) => (
          <Code key={address} copied="Address">
            {address}
          </Code>
        ))}
      </Lines>
    ),
    For: holder,
    Since: <Time at={startedAt} />,
    Until: isLive(session) ? until : endedAt && <Time at={endedAt} />,
    Ended: endedReason === null ? null : CAUSES[endedCause ?? endedReason],
    Reason: session.reason,
    Ticket: session.ticket && <Ticket>{session.ticket}</Ticket>,
    'Approved by': session.approvers.length === 0 ? null : session.approvers.join(', '),
    Request:
      session.accessRequestId === null ? null : (
        <RequestLink id={session.accessRequestId}>
          {session.breakGlass ? 'Opened without approval' : 'What was asked for'}
        </RequestLink>
      ),
  };
}
