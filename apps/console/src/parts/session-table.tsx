import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, Code, Muted, Table, Time, TimeLeft, type Column } from '../ui';
import { Outcomes } from './outcomes';
import { StopOtherButton } from './session-actions';
import { addressesOf, endOf, isLive, STATUS, type Session } from './sessions';
import { Lines, UserLink } from './words';

const WHO: Column<Session> = {
  head: 'Who',
  cell: ({ userId, userName, userEmail, holder }) => (
    <Lines>
      <UserLink id={userId}>{userName}</UserLink>
      <Muted>{userEmail}</Muted>
      {holder === null ? null : <span>for {holder}</span>}
    </Lines>
  ),
};

const STOP: Column<Session> = {
  head: '',
  cell: (session) => (isLive(session) ? <StopOtherButton session={session} /> : null),
};

const COLUMNS: readonly Column<Session>[] = [
  {
    head: 'Since',
    cell: ({ id, startedAt }) => (
      <Link to="/sessions/$id" params={{ id }}>
        <Time at={startedAt} />
      </Link>
    ),
  },
  {
    head: 'From',
    cell: (session) => (
      <Lines>
        {addressesOf(session).map((address) => (
          <Code key={address}>{address}</Code>
        ))}
      </Lines>
    ),
  },
  {
    head: 'To',
    cell: (session) => (
      <Lines>
        <Outcomes session={session} isShort />
        {session.reason === null ? null : <Muted>{session.reason}</Muted>}
        {session.breakGlass ? <Badge tone="warn">Without approval</Badge> : null}
      </Lines>
    ),
  },
  { head: 'Until', cell: (session) => <Until session={session} /> },
];

/** When it ends, or ended. A program that stops renewing it ends it earlier. */
function Until({ session }: { readonly session: Session }) {
  const [text, tone] = STATUS[session.status];
  // what was refused was never open, and has no end
  const end = isLive(session) ? endOf(session) : session.endedAt;
  return (
    <Lines>
      <Badge tone={tone}>{text}</Badge>
      {end === null ? null : <Time at={end} />}
      {isLive(session) ? (
        <Muted>
          <TimeLeft until={endOf(session)} />
          {endOf(session) === session.expiresAt ? '' : ', unless its program renews it'}
        </Muted>
      ) : null}
    </Lines>
  );
}

const COLUMNS_OF = {
  /** everybody's, for an administrator */
  everybody: [WHO, ...COLUMNS, STOP],
  /** of one person, for an administrator */
  one: [...COLUMNS, STOP],
  /** one's own */
  own: COLUMNS,
};

interface SessionTableProps {
  readonly caption: string;
  readonly of: keyof typeof COLUMNS_OF;
  readonly sessions: readonly Session[];
  readonly empty: ReactNode;
}

/** Sessions: who, since when, from where, to what, until when. */
export const SessionTable = ({ caption, of, sessions, empty }: SessionTableProps) => (
  <Table caption={caption} columns={COLUMNS_OF[of]} rows={sessions} keyOf={({ id }) => id} empty={empty} />
);
