import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll, type Schemas } from '../../api';
import {
  ConfirmButton,
  DialogButton,
  Empty,
  Facts,
  Form,
  Loaded,
  Page,
  Row,
  Section,
  Table,
  TextField,
  Time,
} from '../../ui';
import { CredentialBadge, CredentialRefusal, CredentialSetup, VerifyCredential } from './credential-state';
import { ReplaceSecrets } from './replace-secrets';
import { ResourceBadge } from './resource-state';
import { credentialTypeOf, providerOf, useTypes } from './types';

type Credential = Schemas['CredentialDto'];
const route = getRouteApi('/signed-in/administrator/credentials/$id');

/** One credential: whether it is accepted, what the provider has to know, and the resources that use it. */
export function CredentialPage() {
  const { id } = route.useParams();
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  return <Loaded query={credential}>{(loaded) => <Details of={loaded} />}</Loaded>;
}

function Details({ of }: { readonly of: Credential }) {
  const { id, name } = of;
  const types = useTypes().data;
  const provider = providerOf(types, of);
  const type = credentialTypeOf(types, of);
  return (
    <Page
      title={name}
      actions={
        <>
          <VerifyCredential id={id} />
          <ReplaceSecrets of={of} type={type} />
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
        </>
      }
    >
      <CredentialRefusal of={of} provider={provider} />
      <Section title="Credential">
        <Facts
          of={{
            Provider: provider?.label ?? of.provider,
            Kind: type?.label ?? of.credentialType,
            State: <CredentialBadge of={of} />,
            'Last verified': <Time at={of.lastVerifiedAt} />,
            ...Object.fromEntries(
              Object.entries(of.hints).map(([field, value]) => [
                type?.fields.find((each) => each.name === field)?.label ?? field,
                <code key={field}>{value}</code>,
              ]),
            ),
            Made: <Time at={of.createdAt} />,
          }}
        />
        <CredentialSetup of={of} provider={provider} />
      </Section>
      <UsedBy of={of} />
    </Page>
  );
}

function UsedBy({ of: { id, name } }: { readonly of: Credential }) {
  const navigate = useNavigate();
  const resources = useAll('/api/v1/resources');
  return (
    <Loaded query={resources}>
      {(all) => {
        const used = all.filter(({ credentialId }) => credentialId === id);
        return (
          <>
            <Section title="Resources that use it">
              <Table
                caption="Resources that use it"
                rows={used}
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
            </Section>
            <Section title="Delete">
              <Row>
                <ConfirmButton
                  label="Delete credential"
                  title={`Delete the credential ${name}?`}
                  act={() => api.DELETE('/api/v1/credentials/{id}', { params: { path: { id } } })}
                  onDone={() => void navigate({ to: '/credentials' })}
                >
                  <p>
                    {used.length === 0
                      ? 'No resource uses it. Its secrets are erased here; revoke them at the provider, too.'
                      : `It is used by ${used.map((each) => each.name).join(', ')}. Give them another credential, or delete them, first.`}
                  </p>
                </ConfirmButton>
              </Row>
            </Section>
          </>
        );
      }}
    </Loaded>
  );
}
