import type { ReactNode } from 'react';
import { api, type Schemas } from '../../api';
import { ConfirmButton, Muted, Stack, Table, Time, TimeLeft, type Column } from '../../ui';
import { Address, Lines, PersonLink, Reason, SessionLink } from './cells';
import { ResourceStates, Status } from './states';

type Session = Schemas['SessionDto'];

export const isLive = ({ status }: Session): boolean => ['PENDING', 'ACTIVE', 'PARTIAL'].includes(status);

interface SessionTableProps {
  readonly caption: string;
  readonly sessions: readonly Session[];
  readonly empty: ReactNode;
}

/** Sessions that hold access, or should: who, from where, to what, until when. */
export const SessionTable = ({ caption, sessions, empty }: SessionTableProps) => (
  <Table caption={caption} columns={COLUMNS} rows={sessions} keyOf={({ id }) => id} empty={empty} />
);

const COLUMNS: readonly Column<Session>[] = [
  {
    head: 'Who',
    cell: ({ id, userId, userName, userEmail, holder }) => (
      <Lines>
        <PersonLink id={userId} name={userName} />
        <Muted>{userEmail}</Muted>
        {holder === null ? null : <span>Job {holder}</span>}
        <Muted>
          <SessionLink id={id} name="Session" />
        </Muted>
      </Lines>
    ),
  },
  {
    head: 'From',
    cell: (session) => (
      <Lines>
        {addressesOf(session).map((address) => (
          <Address key={address} of={address} />
        ))}
      </Lines>
    ),
  },
  {
    head: 'To',
    cell: ({ resourceIps, skippedIps = [] }) => (
      <Lines>
        <ResourceStates of={resourceIps} />
        {skippedIps.map(({ resourceId, resourceName, reason }) => (
          <Reason key={resourceId}>
            {resourceName} is left out: {reason}
          </Reason>
        ))}
      </Lines>
    ),
  },
  { head: 'Until', cell: (session) => <Until session={session} /> },
  { head: 'Since', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { head: '', cell: (session) => (isLive(session) ? <Stop session={session} /> : null) },
];

const addressesOf = ({ ipv4Address, ipv6Address }: Session): readonly string[] =>
  [ipv4Address, ipv6Address].filter((address) => address !== null);

/** When it ends: at the planned end, or earlier when its job stops renewing it. */
function Until({ session }: { readonly session: Session }) {
  const { status, expiresAt, leaseUntil, endedAt } = session;
  const isLease = leaseUntil !== null && leaseUntil < expiresAt;
  const end = isLease ? leaseUntil : expiresAt;
  return (
    <Lines>
      <Status of={status} />
      {isLive(session) ? <Time at={end} /> : null}
      <Muted>
        {isLive(session) ? <TimeLeft until={end} /> : null}
        {isLive(session) && isLease ? ', unless its job renews it' : ''}
        {endedAt === null ? null : (
          <>
            ended <Time at={endedAt} />
          </>
        )}
      </Muted>
    </Lines>
  );
}

function Stop({ session }: { readonly session: Session }) {
  const { id, userName, userEmail, resourceIps } = session;
  const resources = new Set(resourceIps.map(({ resourceName }) => resourceName));
  return (
    <ConfirmButton
      label="Stop"
      title={`Stop the access of ${userName}?`}
      confirm="Stop it"
      act={() => api.POST('/api/v1/sessions/admin/{id}/stop', { params: { path: { id } } })}
    >
      <Stack>
        <p>
          {addressesOf(session).join(' and ')} of {userEmail} will be closed on {[...resources].join(', ')}.
        </p>
        <Muted>
          A rule that another session or a static IP rule needs stays. {userName} may start another session;
          to prevent that, take the role away or deactivate the person.
        </Muted>
      </Stack>
    </ConfirmButton>
  );
}
