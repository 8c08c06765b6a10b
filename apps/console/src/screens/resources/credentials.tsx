import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll, useList } from '../../api';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { ButtonLink, ConfirmButton, DialogButton, Form, Loaded, Page, Section, Table } from '../../ui';
import { TextField, Time } from '../../ui';
import { CredentialBadge, CredentialDetails } from './credential';
import { NOTHING_YET, resourceColumns } from './resource-list';
import { credentialTypeOf, providerOf, useTypes, type Credential, type ProviderTypes } from './types';

const list = getRouteApi('/signed-in/administrator/credentials');
const one = getRouteApi('/signed-in/administrator/credentials/$id');

/** All credentials, and whether their providers accept them. */
export function Credentials() {
  const { page = 0 } = list.useSearch();
  const credentials = useList('/api/v1/credentials', { query: { page, size: PAGE_SIZE } });
  return (
    <Page
      title="Credentials"
      lead="With these, Drawbridge changes rules at your providers. Secrets are encrypted and never shown again."
      actions={<ButtonLink to="/set-up">New credential</ButtonLink>}
    >
      <Section>
        <Loaded query={useTypes()}>
          {(types) => (
            <Listed
              caption="Credentials"
              query={credentials}
              page={page}
              empty={NOTHING_YET}
              columns={[
                {
                  head: 'Name',
                  cell: ({ id, name }) => (
                    <Link to="/credentials/$id" params={{ id }}>
                      {name}
                    </Link>
                  ),
                },
                {
                  head: 'Kind',
                  cell: (each) => `${providerOf(types, each).label}: ${credentialTypeOf(types, each).label}`,
                },
                { head: 'State', cell: (each) => <CredentialBadge of={each} /> },
                { head: 'Verified', cell: ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} none="never" /> },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

/** One credential: whether it is accepted, what the provider has to know, and the resources that use it. */
export function CredentialPage() {
  const { id } = one.useParams();
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  return (
    <Loaded query={useTypes()}>
      {(types) => <Loaded query={credential}>{(of) => <Details of={of} types={types} />}</Loaded>}
    </Loaded>
  );
}

function Details({ of: credential, types }: { of: Credential; types: readonly ProviderTypes[] }) {
  const { id, name } = credential;
  const params = { path: { id } };
  const resources = useAll('/api/v1/resources');
  const navigate = useNavigate();
  return (
    <Page title={name}>
      <CredentialDetails of={credential} types={types}>
        <DialogButton label="Rename" title={`Rename ${name}`}>
          {(close) => (
            <Form
              submit="Rename"
              onDone={close}
              onCancel={close}
              send={(entered) => {
                const body = { name: entered.text('name') };
                return api.PATCH('/api/v1/credentials/{id}', { params, body });
              }}
            >
              <TextField name="name" label="Name" defaultValue={name} />
            </Form>
          )}
        </DialogButton>
        <ConfirmButton
          label="Delete"
          title={`Delete the credential ${name}?`}
          confirm="Delete credential"
          act={() => api.DELETE('/api/v1/credentials/{id}', { params })}
          onDone={() => navigate({ to: '/credentials' })}
        >
          <p>
            Its secrets are erased here; revoke them at the provider, too. No resource may use it any more.
          </p>
        </ConfirmButton>
      </CredentialDetails>
      <Section title="Resources that use it">
        <Loaded query={resources}>
          {(all) => (
            <Table
              caption="Resources that use it"
              rows={all.filter(({ credentialId }) => credentialId === id)}
              keyOf={(resource) => resource.id}
              columns={resourceColumns(types)}
              empty={
                <Link to="/set-up" search={{ step: 'resource', credential: id }}>
                  Add a resource with it
                </Link>
              }
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
