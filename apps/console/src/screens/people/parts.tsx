import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { ChoicePicker } from '../../parts/choosing';
import { Badge, Picker, type Tone } from '../../ui';

export type User = Schemas['UserDto'];

/** Each status of a user, as a filter and a badge show it. */
export const USER_STATUS: Readonly<Record<User['status'], readonly [text: string, tone: Tone]>> = {
  INVITED: ['Invited', 'busy'],
  ACTIVE: ['Active', 'good'],
  LOCKED: ['Locked', 'warn'],
  INACTIVE: ['Inactive', 'neutral'],
};

export const UserStatus = ({ status }: { status: User['status'] }) => (
  <Badge tone={USER_STATUS[status][1]}>{USER_STATUS[status][0]}</Badge>
);

/** What a CI job may be allowed. */
export const JOB_SCOPES: Readonly<Record<Schemas['WorkloadScope'], string>> = {
  'sessions:write': 'Start, extend and stop sessions',
  'sessions:read': 'See its sessions',
  'resources:read': 'List its resources',
};

/** The field `scopes`. @param of scopes and what they allow */
export const ScopePicker = ({ of, chosen }: { of: Record<string, string>; chosen?: readonly string[] }) => (
  <Picker
    name="scopes"
    label="What it may do"
    chosen={chosen ?? ['sessions:write', 'sessions:read']}
    choices={Object.entries(of).map(([value, text]) => ({ value, text, detail: value }))}
  />
);

/** The field `roleIds`. */
export const RolePicker = ({ chosen = [] }: { chosen?: readonly string[] }) => (
  <ChoicePicker
    from="/api/v1/roles"
    name="roleIds"
    label="Roles"
    chosen={chosen}
    empty={<Link to="/roles/new">Create a role: nothing is reached without one</Link>}
  />
);
