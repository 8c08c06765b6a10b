import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, type Schemas } from '../../api';
import { ChoicePicker, ResourcePicker } from '../../parts/choosing';
import { CollectionScreen, nameColumn } from '../../parts/collection';
import { useEdit } from '../../parts/edits';
import { PERSON, RESOURCE } from '../../parts/filters';
import { Effects } from '../../parts/effects';
import { selectorIn } from '../../parts/labels';
import { count } from '../../parts/words';
import { ButtonLink, ConfirmButton, Empty, Form, Loaded, Page, Section, TabLinks } from '../../ui';
import { TextField, type Column, type Entered } from '../../ui';
import { Demands, demandsOf } from './role-demands';
import { RoleResources, RoleUsers } from './role-members';
import { SelectorField } from './role-selector';

type RoleData = Schemas['RoleDto'];

const one = getRouteApi('/signed-in/administrator/roles/$id');

const COLUMNS: readonly Column<RoleData>[] = [
  nameColumn('/roles/$id'),
  { head: 'Who', sort: 'userCount', cell: ({ userCount }) => count(userCount, 'user') },
  { head: 'Reaches', sort: 'resourceCount', cell: ({ resourceCount }) => count(resourceCount, 'resource') },
  { head: 'At most', cell: ({ maxSessionDurationHours }) => `${maxSessionDurationHours} h` },
];

const FILTERS = [
  { ...PERSON, label: 'Of' },
  { ...RESOURCE, label: 'Reaches' },
];

const create = <ButtonLink to="/roles/new">Create a role</ButtonLink>;

/** The roles of the organization. */
export const Roles = () => (
  <CollectionScreen
    title="Roles"
    lead="A role says who may open access to which resources, and for how long at a time."
    create={create}
    caption="Roles"
    path="/api/v1/roles"
    query={{ withMembers: false }}
    columns={COLUMNS}
    search="name, description"
    filters={FILTERS}
    sort="name"
    empty={<Empty title="There is no role yet: no user reaches anything without one.">{create}</Empty>}
  />
);

export const NewRole = () => (
  <Page title="Create a role">
    <Section>
      <RoleForm />
    </Section>
  </Page>
);

const TABS = [
  ['Settings', undefined],
  ['Users', 'users'],
  ['Resources', 'resources'],
] as const;

/** One role: what it allows, who has it, and what it reaches. */
export function Role() {
  const { id } = one.useParams();
  const { tab } = one.useSearch();
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
              <Effects method="delete" path="/api/v1/roles/{id}" id={id} />
              <p>
                What is open continues: stop it under <Link to="/open">Sessions</Link>.
              </p>
            </ConfirmButton>
          }
        >
          <TabLinks label="Parts of the role" tabs={TABS} />
          <Section key={`${id} ${tab}`}>
            {tab === undefined ? <RoleForm role={data} /> : null}
            {tab === 'users' ? <RoleUsers of={data} /> : null}
            {tab === 'resources' ? <RoleResources of={data} /> : null}
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

/** @param role left out: a new one */
function RoleForm({ role }: { role?: RoleData }) {
  const navigate = useNavigate();
  const path = { id: role?.id ?? '' };
  const edit = useEdit(role ?? {}, () => api.GET('/api/v1/roles/{id}', { params: { path } }));
  const send = async (entered: Entered): Promise<unknown> => {
    const facts = {
      name: entered.text('name'),
      description: entered.text('description'),
      resourceSelector: selectorIn(entered.text('resourceSelector')),
      ...demandsOf(entered),
    };
    const hours = entered.number('maxSessionDurationHours') || null;
    if (role !== undefined)
      return edit({ ...facts, maxSessionDurationHours: hours }, (body) =>
        api.PATCH('/api/v1/roles/{id}', { params: { path }, body }),
      );
    const most = hours === null ? {} : { maxSessionDurationHours: hours };
    const members = { userIds: entered.all('userIds'), resourceIds: entered.all('resourceIds') };
    const { id } = (await api.POST('/api/v1/roles', { body: { ...facts, ...most, ...members } })).data!;
    return navigate({ to: '/roles/$id', params: { id } });
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
      {role ? null : (
        <>
          <ChoicePicker from="/api/v1/users" name="userIds" label="Users" />
          <ResourcePicker empty={<Link to="/resources">Add a resource first</Link>} />
        </>
      )}
      <SelectorField now={role?.resourceSelector ?? null} />
      <Demands role={role} />
    </Form>
  );
}
