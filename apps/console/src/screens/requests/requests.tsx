import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { serverNow, useList, type List } from '../../api';
import { useMe } from '../../layout/me';
import {
  askedFrom,
  DecideButton,
  Decisions,
  isWaiting,
  lackingOf,
  Opens,
  opensAnything,
  RequestStatus,
  type AccessRequest,
} from '../../parts/access-requests';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { count, Lines, Ticket } from '../../parts/words';
import { ButtonLink, Empty, Loaded, localTime, Muted, Page, Row, Section, Time } from '../../ui';
import type { Column } from '../../ui';

const mine = getRouteApi('/signed-in/requests');
const decide = getRouteApi('/signed-in/decide');

const isAnyWaiting = ({ items }: List<AccessRequest>): boolean => items.some(isWaiting);
const HOUR_MS = 3_600_000;

const WHO: Column<AccessRequest> = {
  head: 'Who',
  cell: ({ userName, userEmail, usedBefore }) => (
    <Lines>
      <span>{userName}</span>
      <Muted>{userEmail}</Muted>
      <Muted>{count(usedBefore, 'similar session')} in the 30 days before</Muted>
    </Lines>
  ),
};

const COLUMNS: readonly Column<AccessRequest>[] = [
  {
    head: 'Asked',
    cell: ({ id, createdAt }) => (
      <Link to="/requests/$id" params={{ id }}>
        <Time at={createdAt} />
      </Link>
    ),
  },
  {
    head: 'Opens',
    cell: (request) => (
      <Lines>
        <Opens of={request} />
        <Muted>from {askedFrom(request)}</Muted>
      </Lines>
    ),
  },
  {
    head: 'Why',
    cell: ({ reason, ticket }) => (
      <Lines>
        <span>{reason}</span>
        {ticket === null ? null : <Ticket>{ticket}</Ticket>}
      </Lines>
    ),
  },
];

const STATUS: Column<AccessRequest> = {
  head: 'Status',
  cell: (request) => (
    <Lines>
      <RequestStatus of={request} />
      {isWaiting(request) ? <Muted>{lackingOf(request)}</Muted> : null}
      {request.status === 'APPROVED' && request.useBy !== null ? (
        <Muted>to be opened until {localTime(request.useBy)}</Muted>
      ) : null}
      <Decisions of={request} />
    </Lines>
  ),
};

const UNTIL: Column<AccessRequest> = {
  head: 'Until',
  cell: ({ durationHours, decideBy }) => (
    <Lines>
      <span>
        {localTime(new Date(serverNow() + durationHours * HOUR_MS).toISOString())}, {durationHours} h, if it
        began now
      </span>
      {decideBy === null ? null : (
        <Muted>
          decide by <Time at={decideBy} />
        </Muted>
      )}
    </Lines>
  ),
};

/** @param as what can be done */
const actions = (...as: readonly ('approve' | 'deny' | 'review')[]): Column<AccessRequest> => ({
  head: '',
  cell: (request) => (
    <Row>
      {as.map((each) =>
        each === 'approve' && !opensAnything(request) ? null : (
          <DecideButton key={each} request={request} as={each} />
        ),
      )}
    </Row>
  ),
});

const VIEWS = {
  mine: ['Your requests', [...COLUMNS, STATUS]],
  decide: ['Waiting for you', [WHO, ...COLUMNS, UNTIL, actions('approve', 'deny')]],
  review: ['Opened without approval', [WHO, ...COLUMNS, actions('review')]],
  all: ['Requests of everybody', [WHO, ...COLUMNS, STATUS]],
} as const;

/** @param page left out: the first is enough, what is decided leaves the list */
function RequestList({ view, page, empty }: { view: keyof typeof VIEWS; page?: number; empty: ReactNode }) {
  const [caption, columns] = VIEWS[view];
  const query = { view, page: page ?? 0, size: PAGE_SIZE };
  const list = useList('/api/v1/access-requests', { query }, { isUnsettled: isAnyWaiting });
  return (
    <Section title={caption}>
      <Listed caption={caption} query={list} page={page} columns={columns} empty={empty} />
    </Section>
  );
}

/** What this person has asked others for. */
export function Requests() {
  const { page = 0 } = mine.useSearch();
  return (
    <Page title="Requests" lead="Access that others have to approve before it opens.">
      <RequestList
        view="mine"
        page={page}
        empty={
          <Empty title="You have asked for nothing yet: access that needs approval is asked for where you open it.">
            <ButtonLink to="/">Go to Access</ButtonLink>
          </Empty>
        }
      />
    </Page>
  );
}

/** What waits for this person's decision; for administrators also what is to be reviewed, and all that was asked for. */
export function Decide() {
  const { page = 0 } = decide.useSearch();
  const me = useMe();
  return (
    <Page
      title="Approvals"
      lead="What others ask to open. It stays closed until enough of those who decide approve."
    >
      <RequestList view="decide" empty={<Empty title="Nothing waits for your decision." />} />
      <Loaded query={me}>
        {({ isOrgAdmin }) =>
          isOrgAdmin ? (
            <>
              <RequestList view="review" empty={<Empty title="There is nothing to review." />} />
              <RequestList view="all" page={page} empty={<Empty title="There is no request yet." />} />
            </>
          ) : null
        }
      </Loaded>
    </Page>
  );
}
