import type { ReactNode } from 'react';
import { api, Failure, type Schemas } from '../../api';
import { ChoicePicker, ResourcePicker } from '../../parts/choosing';
import { Collection } from '../../parts/collection';
import { Effects } from '../../parts/effects';
import { RESOURCE_COLUMNS } from '../../parts/resource-columns';
import { UserLines } from '../../parts/words';
import { ConfirmButton, Empty, FormButton, Muted, Row, type Column } from '../../ui';
import { UserStatus, type User } from './parts';

type Role = Schemas['RoleDto'];
type Change = Schemas['RoleMembersDto'];

const change = (id: string, body: Change) =>
  api.POST('/api/v1/roles/{id}/members', { params: { path: { id } }, body });

/** @throws Failure when any of them was refused */
async function changeRole(id: string, body: Change): Promise<void> {
  const { results } = (await change(id, body)).data!;
  const refused = results.filter(({ outcome }) => outcome === 'REFUSED');
  if (refused.length > 0)
    throw new Failure(refused.map(({ message }) => message).join('; '), 409, 'REFUSED_IN_PART');
}

/** Adds what is chosen in a dialog. @param field of `Change` */
const Add = (given: { id: string; label: string; field: keyof Change; children: ReactNode }) => (
  <Row>
    <FormButton
      label={given.label}
      title={`${given.label} to the role`}
      submit="Add"
      send={(entered) => changeRole(given.id, { [given.field]: entered.all('members') })}
    >
      {given.children}
    </FormButton>
  </Row>
);

/** What a change of members does, before it is made. */
const Foreseen = ({ id, body }: { id: string; body: Change }) => (
  <Effects method="post" path="/api/v1/roles/{id}/members" id={id} body={body} />
);

const Remove = ({ id, name, body }: { id: string; name: string; body: Change }) => (
  <ConfirmButton
    kind="normal"
    label="Remove"
    title={`Remove ${name} from the role?`}
    act={() => changeRole(id, body)}
  >
    <Foreseen id={id} body={body} />
  </ConfirmButton>
);

const USER: readonly Column<User>[] = [
  {
    head: 'Name',
    sort: 'name',
    cell: ({ id, name, email }) => <UserLines id={id} name={name} email={email} />,
  },
  { head: 'Status', cell: ({ status }) => <UserStatus status={status} /> },
];

export const RoleUsers = ({ of: { id } }: { of: Role }) => (
  <>
    <Add id={id} label="Add users" field="addUserIds">
      <ChoicePicker from="/api/v1/users" query={{ isActive: true }} name="members" label="Users" />
    </Add>
    <Collection
      caption="Users with the role"
      path="/api/v1/users"
      query={{ roleId: id }}
      columns={[
        ...USER,
        {
          head: '',
          cell: (user) => <Remove id={id} name={user.name} body={{ removeUserIds: [user.id] }} />,
        },
      ]}
      search="name or e-mail"
      bulk={[
        {
          label: 'Remove',
          where: ' from the role',
          foreseen: (removeUserIds) => <Foreseen id={id} body={{ removeUserIds }} />,
          act: (removeUserIds) => change(id, { removeUserIds }),
        },
      ]}
      one="user"
      empty={<Empty title="No user has the role" />}
    />
  </>
);

/** What a role reaches: what was assigned, and what its labels fit. */
export const RoleResources = ({ of: { id, resourceIds } }: { of: Role }) => (
  <>
    <Add id={id} label="Add resources" field="addResourceIds">
      <ResourcePicker name="members" />
    </Add>
    <Collection
      caption="Resources of the role"
      path="/api/v1/resources"
      query={{ roleId: id }}
      columns={[
        ...RESOURCE_COLUMNS,
        {
          head: '',
          cell: (resource) =>
            resourceIds.includes(resource.id) ? (
              <Remove id={id} name={resource.name} body={{ removeResourceIds: [resource.id] }} />
            ) : (
              <Muted>by its labels</Muted>
            ),
        },
      ]}
      search="name, identifier, address"
      sort="name"
      bulk={[
        {
          label: 'Remove',
          where: ' from the role',
          fits: (resource) => resourceIds.includes(resource.id),
          foreseen: (removeResourceIds) => <Foreseen id={id} body={{ removeResourceIds }} />,
          act: (removeResourceIds) => change(id, { removeResourceIds }),
        },
      ]}
      one="resource"
      empty={<Empty title="The role reaches nothing" />}
    />
  </>
);
