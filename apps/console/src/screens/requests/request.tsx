import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { $api, api, live, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { askedFrom, DecideButton, Decisions, isWaiting, lackingOf } from '../../parts/access-requests';
import { namesOf, Opens, opensAnything, RequestStatus, STATUS } from '../../parts/access-requests';
import type { AccessRequest } from '../../parts/access-requests';
import { UseRequest } from '../../parts/session-actions';
import { count, SessionLink, Ticket, UserLink } from '../../parts/words';
import { Action, Button, Facts, Loaded, localTime, Notice, Page, Row, Section } from '../../ui';
import { Time, unbroken } from '../../ui';

const route = getRouteApi('/signed-in/requests/$id');

/** One request: of oneself, or one that one may decide. Mail and chat lead here. */
export function Request() {
  const { id } = route.useParams();
  const me = useMe();
  const path = { params: { path: { id } } };
  // who waits for others looks at something else meanwhile
  const options = { ...live<AccessRequest>(isWaiting), refetchIntervalInBackground: true };
  const request = $api.useQuery('get', '/api/v1/access-requests/{id}', path, options);
  return (
    <Page title={request.data ? titleOf(request.data) : 'Access request'}>
      <Loaded query={request}>
        {(data) => (
          <Section title={data.breakGlass ? 'Opened without approval' : 'Request'}>
            {data.userId === me.data?.id ? <Outcome of={data} /> : null}
            <Facts of={factsOf(data, me.data?.isOrgAdmin ?? false)} />
            {me.data ? <Actions request={data} me={me.data} /> : null}
          </Section>
        )}
      </Loaded>
    </Page>
  );
}

/** The tab shows it, too: who waits looks at something else. */
const titleOf = ({ status, userName }: AccessRequest): string =>
  status === 'APPROVED' || status === 'DENIED'
    ? `${STATUS[status][0]}: access for ${userName}`
    : `Access for ${userName}`;

/** For who has asked: what happens next, and what was decided while this was on the screen. */
function Outcome({ of }: { of: AccessRequest }) {
  const { status } = of;
  const before = useRef(status);
  useEffect(() => {
    const isNews = before.current === 'WAITING' && status !== 'WAITING' && mayNotify() === 'granted';
    before.current = status;
    const news = isNews ? new Notification(titleOf(of), { body: namesOf(of) }) : null;
    news?.addEventListener('click', () => window.focus());
  }, [status, of]);
  if (status === 'WAITING')
    return (
      <Notice>
        <p>
          Once it is approved, you open it with one click, within an hour. The title of this tab says when.
        </p>
        <NotifyButton />
      </Notice>
    );
  if (status === 'APPROVED' && of.useBy !== null)
    return (
      <Notice tone="good" announced>
        Approved. Open it until {localTime(of.useBy)}: its {of.durationHours} h begin then.
      </Notice>
    );
  if (status === 'DENIED')
    return (
      <Notice tone="bad" announced>
        <Decisions of={of} />
      </Notice>
    );
  return null;
}

/** Pages from http have no notifications. */
const mayNotify = (): NotificationPermission =>
  'Notification' in window ? Notification.permission : 'denied';

/** A browser asks for a permission only after a click. */
function NotifyButton() {
  const [permission, setPermission] = useState(mayNotify);
  if (permission !== 'default') return null;
  const ask = async (): Promise<void> => setPermission(await Notification.requestPermission());
  return (
    <Button kind="plain" onClick={() => void ask()}>
      Notify me
    </Button>
  );
}

interface ActionsProps {
  readonly request: AccessRequest;
  readonly me: Schemas['MeDto'];
}

/** Uses or cancels an own request. */
function OwnActions({ request, me: { lockdown } }: ActionsProps) {
  const { id, status } = request;
  const navigate = useNavigate();
  const cancel = () => api.POST('/api/v1/access-requests/{id}/cancel', { params: { path: { id } } });
  return (
    <Row>
      {status === 'APPROVED' && lockdown === null && opensAnything(request) ? (
        <UseRequest
          request={request}
          onStarted={(session) => void navigate({ to: '/sessions/$id', params: { id: session } })}
        />
      ) : null}
      {status === 'WAITING' || status === 'APPROVED' ? (
        <Action label="Cancel the request" act={cancel} />
      ) : null}
    </Row>
  );
}

const withdraw = (id: string) =>
  api.POST('/api/v1/access-requests/{id}/withdraw', { params: { path: { id } } });

function Actions({ request, me }: ActionsProps) {
  if (request.userId === me.id) return <OwnActions request={request} me={me} />;
  return (
    <Row>
      {request.mayDecide ? (
        <>
          {opensAnything(request) ? <DecideButton request={request} as="approve" /> : null}
          <DecideButton request={request} as="deny" />
        </>
      ) : null}
      {request.endedAt === null &&
      request.sessionId === null &&
      request.decisions.some(({ userId, decision }) => userId === me.id && decision === 'APPROVED') ? (
        <Action label="Withdraw the approval" act={() => withdraw(request.id)} />
      ) : null}
      {me.isOrgAdmin && request.breakGlass && request.endedAt === null ? (
        <DecideButton request={request} as="review" />
      ) : null}
    </Row>
  );
}

const factsOf = (request: AccessRequest, isOrgAdmin: boolean): Readonly<Record<string, ReactNode>> => ({
  Status: (
    <span role="status">
      <RequestStatus of={request} />
    </span>
  ),
  Who: (
    <>
      {isOrgAdmin ? <UserLink id={request.userId}>{request.userName}</UserLink> : request.userName} (
      {unbroken(request.userEmail)})
    </>
  ),
  Opens: <Opens of={request} />,
  From: askedFrom(request),
  For: `${request.durationHours} h from its start`,
  Reason: request.reason,
  Ticket: request.ticket && <Ticket>{request.ticket}</Ticket>,
  Needs: isWaiting(request) ? lackingOf(request) : null,
  'Decide by': request.decideBy === null ? null : <Time at={request.decideBy} />,
  'Open it by': request.useBy === null ? null : <Time at={request.useBy} />,
  Decisions:
    request.decisions.length === 0 || request.status === 'DENIED' ? null : <Decisions of={request} />,
  Before: `${count(request.usedBefore, 'similar session')} in the 30 days before`,
  Session:
    request.sessionId === null ? null : <SessionLink id={request.sessionId}>What it opened</SessionLink>,
});
