import type { ReactNode } from 'react';
import { api, type Schemas } from '../../api';
import { CollectionScreen, timeColumn } from '../../parts/collection';
import { Effects } from '../../parts/effects';
import { ROLE, statusFilter, type Filter } from '../../parts/filters';
import type { Bulk } from '../../parts/selection';
import { UserLines } from '../../parts/words';
import { Badge, ButtonLink, Empty, Muted, TextField, type Column } from '../../ui';
import { USER_STATUS, UserStatus, type User } from './parts';

const COLUMNS: readonly Column<User>[] = [
  {
    head: 'Name',
    sort: 'name',
    cell: ({ id, name, email, isOrgAdmin }) => (
      <UserLines id={id} name={name} email={email}>
        {isOrgAdmin ? <Badge>Administrator</Badge> : null}
      </UserLines>
    ),
  },
  { head: 'Roles', cell: ({ roleNames }) => roleNames.join(', ') || <Muted>none</Muted> },
  { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
  timeColumn('Last sign-in', 'lastLoginAt'),
];

const FILTERS: readonly Filter[] = [
  statusFilter(USER_STATUS),
  ROLE,
  { name: 'isOrgAdmin', label: 'Administrator', options: { true: 'yes', false: 'no' } },
];

type Body = Schemas['BulkUsersDto'];
type Action = Body['action'];

const changed = (action: Action, userIds: string[], signal: AbortSignal | null, reason?: string) =>
  api.POST('/api/v1/users/bulk', { body: { userIds, action, ...(reason ? { reason } : {}) }, signal });

const foreseen =
  (act: Omit<Body, 'userIds'>) =>
  (userIds: string[]): ReactNode => (
    <Effects method="post" path="/api/v1/users/bulk" body={{ userIds, ...act } satisfies Body} />
  );

const BULK: readonly Bulk<User>[] = [
  {
    label: 'Resend the invitation of',
    fits: ({ status }) => status === 'INVITED',
    children: <p>Each gets another link by mail, where this deployment sends mail.</p>,
    act: (ids, _, signal) => changed('RESEND_INVITATION', ids, signal),
  },
  {
    label: 'Deactivate',
    fits: ({ isActive }) => isActive,
    ends: {},
    foreseen: foreseen({ action: 'DEACTIVATE' }),
    children: <p>Their sign-ins, sessions and API keys end at once. Static IP rules that they made stay.</p>,
    act: (ids, _, signal) => changed('DEACTIVATE', ids, signal),
  },
  {
    label: 'Reactivate',
    fits: ({ isActive }) => !isActive,
    act: (ids, _, signal) => changed('ACTIVATE', ids, signal),
  },
  {
    label: 'Lock down',
    fits: ({ lockdown }) => lockdown === null,
    ends: {},
    foreseen: foreseen({ action: 'LOCK_DOWN', reason: 'What would end?' }),
    children: (
      <>
        <p>Their sessions end at once, and none can be started until the lockdown is lifted.</p>
        <TextField name="reason" label="Reason" maxLength={500} help="It is shown to each of them." />
      </>
    ),
    act: (ids, entered, signal) => changed('LOCK_DOWN', ids, signal, entered.text('reason')),
  },
  {
    label: 'Delete',
    ends: {},
    foreseen: foreseen({ action: 'DELETE' }),
    children: <p>They have no account then. Static IP rules that they made stay.</p>,
    act: (ids, _, signal) => changed('DELETE', ids, signal),
  },
];

/** The people of the organization. */
export const People = () => (
  <CollectionScreen
    title="People"
    lead="Who may open access, and to what: a person reaches the resources of their roles."
    create={<ButtonLink to="/people/invite">Invite</ButtonLink>}
    caption="People"
    one="account"
    path="/api/v1/users"
    query={{ isService: false }}
    columns={COLUMNS}
    search="name or e-mail"
    filters={FILTERS}
    bulk={BULK}
    empty={<Empty title="No person matches" />}
  />
);
