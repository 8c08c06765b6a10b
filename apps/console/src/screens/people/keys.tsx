import { Link } from '@tanstack/react-router';
import { api, useList, type Schemas } from '../../api';
import { Badge, ConfirmButton, Empty, localTime, Muted, Time, type Column } from '../../ui';
import { Listed, PAGE_SIZE } from './parts';

type Key = Schemas['ApiKeyDto'];

const USER: Column<Key> = {
  head: 'Acts as',
  cell: ({ userId, userEmail }) => (
    <Link to="/people/$id" params={{ id: userId }}>
      {userEmail}
    </Link>
  ),
};

const NAME: Column<Key> = {
  head: 'Name',
  cell: ({ name, description, keyPrefix }) => (
    <>
      <strong>{name}</strong> <Muted>{keyPrefix}…</Muted>
      {description ? <div>{description}</div> : null}
    </>
  ),
};

const OTHERS: readonly Column<Key>[] = [
  {
    head: 'May',
    cell: ({ scopes, agents }) => [...scopes, ...agents.map((host) => `on ${host}`)].join(', '),
  },
  {
    head: 'Last used',
    cell: ({ lastUsedAt, lastUsedIp }) => (
      <>
        <Time at={lastUsedAt} /> <Muted>{lastUsedIp}</Muted>
      </>
    ),
  },
  { head: 'Ends', cell: (key) => <End of={key} /> },
  { head: '', cell: (key) => (key.isRevoked ? null : <Revoke of={key} />) },
];

/** Keys, newest first. @param userId only those of one user */
export const Keys = ({ userId, page = 0 }: { readonly userId?: string; readonly page?: number }) => (
  <Listed
    caption="API keys"
    query={useList('/api/v1/api-keys', { query: { userId, page, size: PAGE_SIZE } })}
    page={page}
    columns={[NAME, ...(userId === undefined ? [USER] : []), ...OTHERS]}
    empty={
      <Empty title="There is no key yet.">
        {userId === undefined ? (
          <p>
            For a pipeline, create a{' '}
            <Link to="/automation" search={{ tab: 'service-users' }}>
              service user
            </Link>{' '}
            first: its key outlives whoever leaves.
          </p>
        ) : null}
      </Empty>
    }
  />
);

function End({ of: { isRevoked, expiresAt } }: { readonly of: Key }) {
  if (isRevoked) return <Badge>Revoked</Badge>;
  if (expiresAt && new Date(expiresAt).getTime() < Date.now()) return <Badge tone="warn">Expired</Badge>;
  return <Time at={expiresAt} />;
}

const Revoke = ({ of: { id, name, keyPrefix, userEmail, lastUsedAt, lastUsedIp } }: { readonly of: Key }) => (
  <ConfirmButton
    label="Revoke"
    title={`Revoke the key ${name}?`}
    act={() => api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } })}
  >
    <p>
      {keyPrefix}… of {userEmail} is invalid from the next request on. Sessions that it started continue until
      they end.
    </p>
    <p>
      {lastUsedAt
        ? `Last used: ${localTime(lastUsedAt)} from ${lastUsedIp ?? 'unknown'}.`
        : 'It was never used.'}
    </p>
  </ConfirmButton>
);
