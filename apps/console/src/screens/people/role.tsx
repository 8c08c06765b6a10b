import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll } from '../../api';
import {
  ConfirmButton,
  Form,
  Loaded,
  localTime,
  Page,
  Picker,
  Section,
  TextField,
  type Entered,
} from '../../ui';
import { count, Named, type Role as RoleData } from './parts';
import { changeResources, changeUsers, useChange } from './requests';

const route = getRouteApi('/signed-in/administrator/roles/$id');

/** More in one request are refused. */
const MAX_AT_ONCE = 100;

/** A role that is to be. */
export function NewRole() {
  const navigate = useNavigate();
  return (
    <Page title="Create a role">
      <Section>
        <Form
          submit="Create the role"
          send={async (entered) => {
            const [userIds, resourceIds] = [entered.all('userIds'), entered.all('resourceIds')];
            const { description, maxSessionDurationHours: hours, name } = factsOf(entered);
            const body = {
              name,
              description: description ?? '',
              userIds: userIds.slice(0, MAX_AT_ONCE),
              resourceIds: resourceIds.slice(0, MAX_AT_ONCE),
              ...(hours === null ? {} : { maxSessionDurationHours: hours }),
            };
            const { id } = (await api.POST('/api/v1/roles', { body })).data!;
            await changeUsers(id, { added: userIds.slice(MAX_AT_ONCE), removed: [] });
            await changeResources(id, { added: resourceIds.slice(MAX_AT_ONCE), removed: [] });
            await navigate({ to: '/roles/$id', params: { id } });
          }}
        >
          <Fields />
        </Form>
      </Section>
    </Page>
  );
}

/** One role. */
export function Role() {
  const { id } = route.useParams();
  const role = $api.useQuery('get', '/api/v1/roles/{id}', { params: { path: { id } } });
  return (
    <Loaded query={role}>
      {(data) => (
        <Page
          title={data.name}
          lead="A change counts for new sessions. What is open continues until it ends."
          actions={<Delete role={data} />}
        >
          <Section>
            <Edit key={data.id} role={data} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

function Edit({ role }: { readonly role: RoleData }) {
  const { id } = role;
  const [usersTo, savedUsers] = useChange(role.userIds);
  const [resourcesTo, savedResources] = useChange(role.resourceIds);
  return (
    <Form
      submit="Save"
      busy="Saving…"
      done="Saved."
      send={async (entered) => {
        const { maxSessionDurationHours: hours, ...facts } = factsOf(entered);
        // the answer does not tell hours of the role from those of the plan
        const body =
          hours === role.maxSessionDurationHours ? facts : { ...facts, maxSessionDurationHours: hours };
        await api.PATCH('/api/v1/roles/{id}', { params: { path: { id } }, body });
        await changeUsers(id, usersTo(entered.all('userIds')));
        await changeResources(id, resourcesTo(entered.all('resourceIds')));
        savedUsers(entered.all('userIds'));
        savedResources(entered.all('resourceIds'));
      }}
    >
      <Fields role={role} />
    </Form>
  );
}

const factsOf = (entered: Entered) => ({
  name: entered.text('name'),
  description: entered.optional('description') ?? null,
  maxSessionDurationHours: entered.optional('maxSessionDurationHours')
    ? entered.number('maxSessionDurationHours')
    : null,
});

function Fields({ role }: { readonly role?: RoleData }) {
  const users = useAll('/api/v1/users');
  const resources = useAll('/api/v1/resources');
  return (
    <>
      <TextField name="name" label="Name" defaultValue={role?.name} maxLength={100} />
      <TextField
        name="description"
        label="Description"
        required={false}
        defaultValue={role?.description ?? ''}
        maxLength={1000}
      />
      <TextField
        name="maxSessionDurationHours"
        label="Hours at most"
        type="number"
        min={1}
        max={24}
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
            choices={all.map(({ id, name, email, isService }) => ({
              value: id,
              text: name,
              detail: isService ? 'service user' : email,
            }))}
          />
        )}
      </Loaded>
      <Loaded query={resources}>
        {(all) => (
          <Picker
            name="resourceIds"
            label="Resources"
            chosen={role?.resourceIds ?? []}
            choices={all.map(({ id, name, provider, resourceIdentifier }) => ({
              value: id,
              text: name,
              detail: `${provider} ${resourceIdentifier}`,
            }))}
            empty={
              <>
                There is no resource yet. <Link to="/resources">Add a resource</Link>
              </>
            }
          />
        )}
      </Loaded>
    </>
  );
}

function Delete({ role }: { readonly role: RoleData }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete the role ${role.name}?`}
      act={() => api.DELETE('/api/v1/roles/{id}', { params: { path: { id: role.id } } })}
      onDone={() => void navigate({ to: '/roles' })}
    >
      <p>
        {count(role.userIds.length, 'user')} can open no more sessions on{' '}
        {count(role.resourceIds.length, 'resource')}, unless another role allows it. Users and resources are
        kept.
      </p>
      <Continuing role={role} />
    </ConfirmButton>
  );
}

/** The open sessions that the end of a role does not end. */
const Continuing = ({ role }: { readonly role: RoleData }) => (
  <Loaded query={useAll('/api/v1/sessions/admin', { active: true })}>
    {(all) => {
      const open = all.filter(
        ({ userId, resourceIps }) =>
          role.userIds.includes(userId) &&
          resourceIps.some(({ resourceId }) => role.resourceIds.includes(resourceId)),
      );
      return (
        <Named
          lead={
            <>
              <strong>Not closed: {count(open.length, 'open session')}</strong>, which continue until they
              end. Stop what must end now under <Link to="/open">Open now</Link>.
            </>
          }
          items={open.map(({ userName, expiresAt }) => `${userName}, until ${localTime(expiresAt)}`)}
        />
      );
    }}
  </Loaded>
);
