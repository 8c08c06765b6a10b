import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll, useList, type Schemas } from '../../api';
import { useEdit } from '../../parts/edits';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { count } from '../../parts/words';
import { ButtonLink, ConfirmButton, Empty, Form, Loaded, Page, Picker, Section } from '../../ui';
import { TextField, type Entered } from '../../ui';
import { Demands, demandsOf } from './role-demands';
import { changeMember, useMembers } from './members';

type RoleData = Schemas['RoleDto'];

const list = getRouteApi('/signed-in/administrator/roles');
const one = getRouteApi('/signed-in/administrator/roles/$id');

/** The roles of the organization. */
export function Roles() {
  const { page = 0 } = list.useSearch();
  const create = <ButtonLink to="/roles/new">Create a role</ButtonLink>;
  return (
    <Page
      title="Roles"
      lead="A role says who may open access to which resources, and for how long at a time."
      actions={create}
    >
      <Section>
        <Listed
          caption="Roles"
          query={useList('/api/v1/roles', { query: { page, size: PAGE_SIZE } })}
          page={page}
          columns={[
            { head: 'Name', cell: (role) => <RoleLink to={role} /> },
            { head: 'Who', cell: ({ userIds }) => count(userIds.length, 'user') },
            { head: 'Reaches', cell: ({ resourceIds }) => count(resourceIds.length, 'resource') },
            { head: 'At most', cell: ({ maxSessionDurationHours }) => `${maxSessionDurationHours} h` },
          ]}
          empty={<Empty title="There is no role yet: no user reaches anything without one.">{create}</Empty>}
        />
      </Section>
    </Page>
  );
}

const RoleLink = ({ to: { id, name } }: { to: RoleData }) => (
  <Link to="/roles/$id" params={{ id }}>
    {name}
  </Link>
);

/** A role that is to be. */
export const NewRole = () => (
  <Page title="Create a role">
    <Section>
      <RoleForm />
    </Section>
  </Page>
);

/** One role. */
export function Role() {
  const { id } = one.useParams();
  const navigate = useNavigate();
  const role = $api.useQuery('get', '/api/v1/roles/{id}', { params: { path: { id } } });
  return (
    <Loaded query={role}>
      {(data) => (
        <Page
          title={data.name}
          lead="A change counts for new sessions. What is open continues until it ends."
          actions={
            <ConfirmButton
              label="Delete"
              title={`Delete the role ${data.name}?`}
              act={() => api.DELETE('/api/v1/roles/{id}', { params: { path: { id } } })}
              onDone={() => navigate({ to: '/roles' })}
            >
              <p>
                {count(data.userIds.length, 'user')} can open no more sessions by it. What is open continues:
                stop it under <Link to="/open">Open now</Link>.
              </p>
            </ConfirmButton>
          }
        >
          <Section>
            <RoleForm key={id} role={data} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

/** @param role left out: a new one */
function RoleForm({ role }: { role?: RoleData }) {
  const navigate = useNavigate();
  const users = useAll('/api/v1/users');
  const resources = useAll('/api/v1/resources');
  const changeUsers = useMembers(role?.userIds ?? []);
  const changeResources = useMembers(role?.resourceIds ?? []);
  const path = { id: role?.id ?? '' };
  const edit = useEdit(role ?? {}, () => api.GET('/api/v1/roles/{id}', { params: { path } }));
  const send = async (entered: Entered): Promise<void> => {
    const facts = {
      name: entered.text('name'),
      description: entered.text('description'),
      ...demandsOf(entered),
    };
    const [userIds, resourceIds] = [entered.all('userIds'), entered.all('resourceIds')];
    const hours = entered.number('maxSessionDurationHours') || null;
    if (role === undefined) {
      const most = hours === null ? {} : { maxSessionDurationHours: hours };
      const body = { ...facts, ...most, userIds, resourceIds };
      const { id } = (await api.POST('/api/v1/roles', { body })).data!;
      return navigate({ to: '/roles/$id', params: { id } });
    }
    await edit({ ...facts, maxSessionDurationHours: hours }, (body) =>
      api.PATCH('/api/v1/roles/{id}', { params: { path }, body }),
    );
    await changeUsers(userIds, (...user) => changeMember('user', role.id, ...user));
    await changeResources(resourceIds, (...resource) => changeMember('resource', role.id, ...resource));
  };
  return (
    <Form submit={role ? 'Save' : 'Create the role'} done="Saved." send={send}>
      <TextField name="name" label="Name" defaultValue={role?.name} maxLength={100} />
      <TextField
        name="description"
        label="Description"
        required={false}
        defaultValue={role?.description ?? ''}
      />
      <TextField
        name="maxSessionDurationHours"
        label="Hours at most"
        type="number"
        required={false}
        defaultValue={role?.maxSessionDurationHours}
        help="How long a session may last. Empty: as long as the plan allows."
      />
      <Loaded query={users}>
        {(all) => (
          <Picker
            name="userIds"
            label="Users"
            chosen={role?.userIds ?? []}
            choices={all.map(({ id, name, email }) => ({ value: id, text: name, detail: email }))}
          />
        )}
      </Loaded>
      <Loaded query={resources}>
        {(all) => (
          <Picker
            name="resourceIds"
            label="Resources"
            chosen={role?.resourceIds ?? []}
            choices={all.map(({ id, name, provider }) => ({ value: id, text: name, detail: provider }))}
            empty={<Link to="/resources">Add a resource first</Link>}
          />
        )}
      </Loaded>
      <Demands role={role} />
    </Form>
  );
}
