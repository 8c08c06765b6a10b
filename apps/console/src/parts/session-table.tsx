import { api } from '../api';
import { aboutText, Badge, Code, Muted, Time, TimeLeft, type Column } from '../ui';
import { CAUSES } from './event-texts';
import { Outcomes } from './outcomes';
import type { Bulk } from './selection';
import { StopOtherButton } from './session-actions';
import { addressesOf, endOf, isLive, isUnsettled, STATUS, type Session } from './sessions';
import { Lines, SessionLink, UserLines } from './words';

const WHO: Column<Session> = {
  head: 'Who',
  cell: ({ userId, userName, userEmail }) => <UserLines id={userId} name={userName} email={userEmail} />,
};

const STOP: Column<Session> = {
  head: '',
  cell: (session) => (isLive(session) ? <StopOtherButton session={session} /> : null),
};

const COLUMNS: readonly Column<Session>[] = [
  {
    head: 'Since',
    cell: ({ id, startedAt }) => (
      <SessionLink id={id}>
        <Time at={startedAt} />
      </SessionLink>
    ),
  },
  {
    head: 'From',
    cell: (session) => (
      <Lines>
        {addressesOf(session).map((address) => (
          <Code key={address}>{address}</Code>
        ))}
        {session.holder === null ? null : <Muted>for {session.holder}</Muted>}
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
  const cause = session.endedCause ?? session.endedReason;
  const end = isLive(session) ? endOf(session) : session.endedAt;
  return (
    <Lines>
      <Badge tone={tone}>{text}</Badge>
      {session.opensInSeconds ? <Muted>opens in {aboutText(session.opensInSeconds)}</Muted> : null}
      {end === null ? null : <Time at={end} />}
      {cause === null || session.status === 'EXPIRED' ? null : <Muted>{CAUSES[cause]}</Muted>}
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

const STOP_ALL: Bulk<Session> = {
  label: 'Stop',
  fits: isLive,
  ends: {},
  children: <p>This closes their addresses, unless something else keeps them open.</p>,
  act: (sessionIds, _, signal) =>
    api.POST('/api/v1/sessions/admin/bulk', { body: { sessionIds, action: 'STOP' }, signal }),
};

/** For a `Collection`: sessions, who, since when, from where, to what, until when. */
export const sessionsOf = (whose: keyof typeof COLUMNS_OF) => ({
  one: 'session',
  nameOf: (session: Session): string =>
    [session.userName, ...addressesOf(session), session.holder].filter(Boolean).join(', '),
  columns: COLUMNS_OF[whose],
  isUnsettled,
  bulk: whose === 'own' ? [] : [STOP_ALL],
});
