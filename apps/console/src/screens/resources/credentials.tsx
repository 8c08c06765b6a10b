import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api } from '../../api';
import { Collection, CollectionScreen, nameColumn, timeColumn } from '../../parts/collection';
import { stateFilter } from '../../parts/filters';
import {
  credentialTypeOf,
  providerOf,
  useTypes,
  type Credential,
  type ProviderTypes,
} from '../../parts/types';
import { RESOURCE_COLUMNS } from '../../parts/resource-columns';
import { ButtonLink, ConfirmButton, DialogButton, Form, Loaded, Page, Section } from '../../ui';
import { TextField, type Column } from '../../ui';
import { CloudAccounts, isForMany } from './cloud-accounts';
import { CredentialBadge, CredentialDetails } from './credential';
import { NOTHING_YET } from './resource-list';

const one = getRouteApi('/signed-in/administrator/credentials/$id');

const Kind = ({ of }: { of: Credential }) => {
  const { data } = useTypes();
  return data ? `${providerOf(data, of).label}: ${credentialTypeOf(data, of).label}` : of.provider;
};

const COLUMNS: readonly Column<Credential>[] = [
  nameColumn('/credentials/$id'),
  { head: 'Kind', cell: (each) => <Kind of={each} /> },
  { head: 'State', cell: (each) => <CredentialBadge of={each} /> },
  timeColumn('Verified', 'lastVerifiedAt'),
];

const STATE = stateFilter({ VALID: 'accepted', INVALID: 'refused', UNCHECKED: 'not checked yet' });

/** All credentials, and whether their providers accept them. */
export const Credentials = () => (
  <CollectionScreen
    title="Credentials"
    lead="With these, Drawbridge changes rules at your providers. Secrets are encrypted and never shown again."
    create={<ButtonLink to="/set-up">New credential</ButtonLink>}
    caption="Credentials"
    path="/api/v1/credentials"
    columns={COLUMNS}
    search="name, hints"
    filters={[STATE]}
    sort="name"
    empty={NOTHING_YET}
  />
);

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
      {isForMany(credential) || credential.accountsListedAt !== null ? (
        <CloudAccounts of={credential} />
      ) : null}
      <Section title="Resources that use it">
        <Collection
          caption="Resources that use it"
          path="/api/v1/resources"
          query={{ credentialId: id }}
          columns={RESOURCE_COLUMNS}
          search="name, identifier, address"
          sort="name"
          empty={
            <Link to="/set-up" search={{ step: 'resource', credential: id }}>
              Add a resource with it
            </Link>
          }
        />
      </Section>
    </Page>
  );
}
