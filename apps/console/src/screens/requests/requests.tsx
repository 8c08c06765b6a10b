import type { ReactNode } from 'react';
import { serverNow } from '../../api';
import { useMe } from '../../layout/me';
import { askedFrom, DecideButton, Decisions, isWaiting, lackingOf, Opens } from '../../parts/access-requests';
import { opensAnything, RequestStatus, STATUS as TEXTS } from '../../parts/access-requests';
import type { AccessRequest } from '../../parts/access-requests';
import { Collection } from '../../parts/collection';
import { statusFilter, TIMES } from '../../parts/filters';
import { count, Lines, RequestLink, Ticket } from '../../parts/words';
import { ButtonLink, Empty, Loaded, localTime, Muted, Page, Row, Section, Time } from '../../ui';
import type { Column } from '../../ui';

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
      <RequestLink id={id}>
        <Time at={createdAt} />
      </RequestLink>
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

const FILTERS = [statusFilter(TEXTS), ...TIMES];

const VIEWS = {
  mine: ['Your requests', [...COLUMNS, STATUS]],
  decide: ['Waiting for you', [WHO, ...COLUMNS, UNTIL, actions('approve', 'deny')]],
  review: ['Opened without approval', [WHO, ...COLUMNS, actions('review')]],
  all: ['Requests of everybody', [WHO, ...COLUMNS, STATUS]],
} as const;

interface ListProps {
  readonly view: keyof typeof VIEWS;
  readonly isBeside?: boolean;
  readonly empty: ReactNode;
}

/** @param isBeside the first page is enough: what is decided leaves the list */
function RequestList({ view, isBeside = false, empty }: ListProps) {
  const [caption, columns] = VIEWS[view];
  return (
    <Section title={caption}>
      <Collection
        caption={caption}
        path="/api/v1/access-requests"
        query={{ view }}
        columns={columns}
        filters={isBeside ? [] : FILTERS}
        isUnsettled={isWaiting}
        isBeside={isBeside}
        empty={empty}
      />
    </Section>
  );
}

/** What this person has asked others for. */
export const Requests = () => (
  <Page title="Requests" lead="Access that others have to approve before it opens.">
    <RequestList
      view="mine"
      empty={
        <Empty title="You have asked for nothing yet: access that needs approval is asked for where you open it.">
          <ButtonLink to="/">Go to Access</ButtonLink>
        </Empty>
      }
    />
  </Page>
);

/** What waits for this person's decision; for administrators also what is to be reviewed, and all that was asked for. */
export function Decide() {
  const me = useMe();
  return (
    <Page
      title="Approvals"
      lead="What others ask to open. It stays closed until enough of those who decide approve."
    >
      <RequestList view="decide" isBeside empty={<Empty title="Nothing waits for your decision." />} />
      <Loaded query={me}>
        {({ isOrgAdmin }) =>
          isOrgAdmin ? (
            <>
              <RequestList view="review" isBeside empty={<Empty title="There is nothing to review." />} />
              <RequestList view="all" empty={<Empty title="There is no request yet." />} />
            </>
          ) : null
        }
      </Loaded>
    </Page>
  );
}
