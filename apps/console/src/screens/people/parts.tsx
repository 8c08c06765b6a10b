import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAll, type List, type Schemas } from '../../api';
import { Badge, Loaded, Pager, Picker, Table, type Column, type Tone } from '../../ui';

export type User = Schemas['UserDto'];
export type Role = Schemas['RoleDto'];
export type Scope = Schemas['Scope'];

/** Each status of a user, as a filter and a badge show it. */
export const USER_STATUS: Readonly<Record<User['status'], readonly [text: string, tone: Tone]>> = {
  INVITED: ['Invited', 'busy'],
  ACTIVE: ['Active', 'good'],
  LOCKED: ['Locked', 'warn'],
  INACTIVE: ['Inactive', 'neutral'],
};

export function UserStatus({ status }: { readonly status: User['status'] }) {
  const [text, tone] = USER_STATUS[status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** What a CI job may be allowed. */
export const JOB_SCOPES: Readonly<Record<Schemas['WorkloadScope'], string>> = {
  'sessions:write': 'Start, extend and stop sessions',
  'sessions:read': 'See its sessions',
  'resources:read': 'List its resources',
};

/** What a key may be allowed. */
export const KEY_SCOPES: Readonly<Record<Scope, string>> = {
  ...JOB_SCOPES,
  'audit:read': 'Read the audit trail (keys of administrators)',
  'agent:connect': 'Serve hosts as their agent',
};

interface ScopesProps {
  readonly of: Readonly<Record<string, string>>;
  readonly chosen?: readonly string[];
}

/** The field `scopes`. */
export const ScopePicker = ({ of, chosen = ['sessions:write', 'sessions:read'] }: ScopesProps) => (
  <Picker
    name="scopes"
    label="What it may do"
    chosen={chosen}
    choices={Object.entries(of).map(([value, text]) => ({ value, text, detail: value }))}
  />
);

/** The field `roleIds`. */
export const RolePicker = ({ chosen = [] }: { readonly chosen?: readonly string[] }) => (
  <Loaded query={useAll('/api/v1/roles')}>
    {(all) => (
      <Picker
        name="roleIds"
        label="Roles"
        chosen={chosen}
        choices={all.map(({ id, name, description }) => ({ value: id, text: name, detail: description }))}
        empty={
          <>
            There is no role yet, and nothing is reached without one.{' '}
            <Link to="/roles/new">Create a role</Link>
          </>
        }
      />
    )}
  </Loaded>
);

export const PAGE_SIZE = 50;

interface ListedProps<Item> {
  readonly caption: string;
  readonly query: UseQueryResult<List<Item>>;
  readonly page: number;
  readonly columns: readonly Column<Item>[];
  readonly empty: ReactNode;
}

/** One page of a list. */
export const Listed = <Item extends { id: string }>({ query, page, ...table }: ListedProps<Item>) => (
  <Loaded query={query}>
    {({ items, total }) => (
      <>
        <Table {...table} rows={items} keyOf={({ id }) => id} />
        <Pager page={page} size={PAGE_SIZE} total={total} />
      </>
    )}
  </Loaded>
);

const MAX_NAMED = 5;

/** A sentence, and the first of what it is about. */
export const Named = ({ lead, items }: { readonly lead: ReactNode; readonly items: readonly string[] }) => (
  <div>
    <p>{lead}</p>
    <ul>
      {items.slice(0, MAX_NAMED).map((item) => (
        <li key={item}>{item}</li>
      ))}
      {items.length > MAX_NAMED ? <li>and {items.length - MAX_NAMED} more</li> : null}
    </ul>
  </div>
);

/** "no roles", "1 role", "2 roles" */
export const count = (number: number, one: string): string =>
  `${number || 'no'} ${one}${number === 1 ? '' : 's'}`;
