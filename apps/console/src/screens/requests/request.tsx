import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { $api, api, live, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import {
  askedFrom,
  DecideButton,
  Decisions,
  isWaiting,
  lackingOf,
  namesOf,
  RequestStatus,
  type AccessRequest,
} from '../../parts/access-requests';
import { openedBeside } from '../../parts/session-actions';
import { count } from '../../parts/words';
import { Action, Button, Facts, Loaded, Notice, Page, Problem, Row, Section, Time } from '../../ui';

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
    <Page title={request.data ? `Access for ${request.data.userName}` : 'Access request'}>
      <Loaded query={request}>
        {(data) => (
          <Section title={data.breakGlass ? 'Opened without approval' : 'Request'}>
            {isWaiting(data) && data.userId === me.data?.id ? (
              <Notice>It opens by itself once it is approved, as long as this screen is open.</Notice>
            ) : null}
            {data.status === 'DENIED' ? (
              <Notice tone="bad" announced>
                <Decisions of={data} />
              </Notice>
            ) : null}
            <Facts of={factsOf(data)} />
            {me.data ? <Actions request={data} me={me.data} /> : null}
          </Section>
        )}
      </Loaded>
    </Page>
  );
}

interface ActionsProps {
  readonly request: AccessRequest;
  readonly me: Schemas['MeDto'];
}

/** Uses or cancels an own request. When it is approved while this is on the screen, its session starts by itself. */
function OwnActions({ request: { id, status }, me: { lockdown } }: ActionsProps) {
  const navigate = useNavigate();
  const hasWaited = useRef(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      openedBeside(
        { accessRequestId: id },
        `request ${id.slice(0, 8)}`,
        (session) => void navigate({ to: '/sessions/$id', params: { id: session } }),
      ),
  });
  const mayStart = status === 'APPROVED' && lockdown === null;
  useEffect(() => {
    if (mayStart && hasWaited.current) mutate();
    hasWaited.current = status === 'WAITING';
  }, [status, mayStart, mutate]);
  const cancel = () => api.POST('/api/v1/access-requests/{id}/cancel', { params: { path: { id } } });
  return (
    <>
      <Row>
        {mayStart ? (
          <Button kind="primary" busy={isPending && 'Opening…'} onClick={() => mutate()}>
            Let me in now
          </Button>
        ) : null}
        {status === 'WAITING' || status === 'APPROVED' ? (
          <Action label="Cancel the request" act={cancel} />
        ) : null}
      </Row>
      {error ? <Problem error={error} /> : null}
    </>
  );
}

function Actions({ request, me }: ActionsProps) {
  if (request.userId === me.id) return <OwnActions request={request} me={me} />;
  return (
    <Row>
      {request.mayDecide ? (
        <>
          <DecideButton request={request} as="approve" />
          <DecideButton request={request} as="deny" />
        </>
      ) : null}
      {me.isOrgAdmin && request.breakGlass && request.endedAt === null ? (
        <DecideButton request={request} as="review" />
      ) : null}
    </Row>
  );
}

const factsOf = (request: AccessRequest): Readonly<Record<string, ReactNode>> => ({
  Status: (
    <span role="status">
      <RequestStatus of={request} />
    </span>
  ),
  Who: `${request.userName} (${request.userEmail})`,
  Opens: namesOf(request),
  From: askedFrom(request),
  For: `${request.durationHours} h from its start`,
  Reason: request.reason,
  Ticket: request.ticket,
  Needs: isWaiting(request) ? lackingOf(request) : null,
  'Decide by': request.decideBy === null ? null : <Time at={request.decideBy} />,
  'Start by': request.useBy === null ? null : <Time at={request.useBy} />,
  Decisions:
    request.decisions.length === 0 || request.status === 'DENIED' ? null : <Decisions of={request} />,
  Before: `${count(request.usedBefore, 'such session')} in the 30 days before`,
  Session:
    request.sessionId === null ? null : (
      <Link to="/sessions/$id" params={{ id: request.sessionId }}>
        What it opened
      </Link>
    ),
});
