import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll, type Schemas } from '../../api';
import {
  ConfirmButton,
  DialogButton,
  Empty,
  Form,
  Loaded,
  Muted,
  Page,
  Section,
  Table,
  TextField,
} from '../../ui';
import { CredentialDetails } from './credential-details';
import { ResourceBadge } from './resource-state';
import { useTypes } from './types';

type Resource = Schemas['ResourceDto'];
/** A dialog has no room for more. */
const MAX_NAMES = 5;
const MAX_ROWS = 50;

type OfCredential = { readonly of: Schemas['CredentialDto'] };
const route = getRouteApi('/signed-in/administrator/credentials/$id');

/** One credential: whether it is accepted, what the provider has to know, and the resources that use it. */
export function CredentialPage() {
  const { id } = route.useParams();
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  const types = useTypes().data ?? [];
  const resources = useAll('/api/v1/resources');
  return (
    <Loaded query={credential}>
      {(of) => (
        <Loaded query={resources}>
          {(all) => {
            const used = all.filter(({ credentialId }) => credentialId === id);
            return (
              <Page title={of.name}>
                <CredentialDetails of={of} types={types}>
                  <Rename of={of} />
                  <Delete of={of} used={used} />
                </CredentialDetails>
                <UsedBy id={id} used={used} />
              </Page>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

const Rename = ({ of: { id, name } }: OfCredential) => (
  <DialogButton label="Rename" title={`Rename ${name}`}>
    {(close) => (
      <Form
        submit="Rename"
        onDone={close}
        onCancel={close}
        send={(entered) =>
          api.PATCH('/api/v1/credentials/{id}', {
            params: { path: { id } },
            body: { name: entered.text('name') },
          })
        }
      >
        <TextField name="name" label="Name" defaultValue={name} autoFocus />
      </Form>
    )}
  </DialogButton>
);

function Delete({ of: { id, name }, used }: OfCredential & { readonly used: readonly Resource[] }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete the credential ${name}?`}
      confirm="Delete credential"
      act={() => api.DELETE('/api/v1/credentials/{id}', { params: { path: { id } } })}
      onDone={() => void navigate({ to: '/credentials' })}
    >
      <p>
        {used.length === 0
          ? 'No resource uses it. Its secrets are erased here; revoke them at the provider, too.'
          : `${used.length === 1 ? 'One resource uses' : `${used.length} resources use`} it: ${namesOf(used)}. Give them another credential, or delete them, first.`}
      </p>
    </ConfirmButton>
  );
}

const namesOf = (resources: readonly Resource[]): string => {
  const names = resources.slice(0, MAX_NAMES).map(({ name }) => name);
  return [...names, ...(resources.length > MAX_NAMES ? ['…'] : [])].join(', ');
};

const UsedBy = ({ id, used }: { readonly id: string; readonly used: readonly Resource[] }) => (
  <Section title="Resources that use it">
    <Table
      caption="Resources that use it"
      rows={used.slice(0, MAX_ROWS)}
      keyOf={(resource) => resource.id}
      empty={
        <Empty title="No resource uses it yet">
          <Link to="/resources/new" search={{ credential: id }}>
            Add a resource with it
          </Link>
        </Empty>
      }
      columns={[
        {
          head: 'Resource',
          cell: (resource) => (
            <Link to="/resources/$id" params={{ id: resource.id }}>
              {resource.name}
            </Link>
          ),
        },
        { head: 'Target', cell: ({ resourceIdentifier }) => <code>{resourceIdentifier}</code> },
        { head: 'State', cell: (resource) => <ResourceBadge of={resource} /> },
      ]}
    />
    {used.length > MAX_ROWS ? <Muted>… and {used.length - MAX_ROWS} more</Muted> : null}
  </Section>
);
