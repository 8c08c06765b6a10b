import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api, live } from '../../api';
import { useMe } from '../../layout/me';
import {
  askedFrom,
  DecideButton,
  Decisions,
  isWaiting,
  lackingOf,
  namesOf,
  OwnRequestActions,
  RequestStatus,
  type AccessRequest,
} from '../../parts/access-requests';
import { count } from '../../parts/words';
import { Facts, Loaded, Page, Row, Section, Time } from '../../ui';

const route = getRouteApi('/signed-in/requests/$id');

/** One request: of oneself, or one that one may decide. Mail and chat lead here. */
export function Request() {
  const { id } = route.useParams();
  const me = useMe();
  const path = { params: { path: { id } } };
  const request = $api.useQuery('get', '/api/v1/access-requests/{id}', path, live<AccessRequest>(isWaiting));
  return (
    <Page title={request.data ? `Access for ${request.data.userName}` : 'Access request'}>
      <Loaded query={request}>
        {(data) => (
          <Section title={data.breakGlass ? 'Opened without approval' : 'Request'}>
            <Facts of={factsOf(data)} />
            {me.data ? (
              <Actions request={data} isOwn={data.userId === me.data.id} isAdmin={me.data.isOrgAdmin} />
            ) : null}
          </Section>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ request, isOwn, isAdmin }: { request: AccessRequest; isOwn: boolean; isAdmin: boolean }) {
  const navigate = useNavigate();
  const open = (id: string): void => void navigate({ to: '/sessions/$id', params: { id } });
  if (isOwn) return <OwnRequestActions request={request} onStarted={open} />;
  return (
    <Row>
      {request.mayDecide ? (
        <>
          <DecideButton request={request} as="approve" />
          <DecideButton request={request} as="deny" />
        </>
      ) : null}
      {isAdmin && request.breakGlass && request.endedAt === null ? (
        <DecideButton request={request} as="review" />
      ) : null}
    </Row>
  );
}

const factsOf = (request: AccessRequest): Readonly<Record<string, ReactNode>> => ({
  Status: <RequestStatus of={request} />,
  Who: `${request.userName} (${request.userEmail})`,
  Opens: namesOf(request),
  From: askedFrom(request),
  For: `${request.durationHours} h from its start`,
  Reason: request.reason,
  Ticket: request.ticket,
  Needs: isWaiting(request) ? lackingOf(request) : null,
  'Decide by': request.decideBy === null ? null : <Time at={request.decideBy} />,
  'Start by': request.useBy === null ? null : <Time at={request.useBy} />,
  Decisions: request.decisions.length === 0 ? null : <Decisions of={request} />,
  Before: `${count(request.usedBefore, 'such session')} in the 30 days before`,
  Session:
    request.sessionId === null ? null : (
      <Link to="/sessions/$id" params={{ id: request.sessionId }}>
        What it opened
      </Link>
    ),
});
