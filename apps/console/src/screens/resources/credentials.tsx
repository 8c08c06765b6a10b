import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useList } from '../../api';
import { Collection, CollectionScreen, nameColumn, timeColumn } from '../../parts/collection';
import { stateFilter } from '../../parts/filters';
import { credentialTypeOf, isForMany, providerOf, useTypes, type Credential } from '../../parts/types';
import type { ProviderTypes } from '../../parts/types';
import { RESOURCE_COLUMNS } from '../../parts/resource-columns';
import { count } from '../../parts/words';
import { ButtonLink, ConfirmButton, FormButton, Loaded, Notice, Page, Section } from '../../ui';
import { TabLinks, TextField, type Column } from '../../ui';
import { CloudAccounts } from './cloud-accounts';
import { CredentialBadge, CredentialDetails, VALIDITY } from './credential';
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
    filters={[stateFilter(VALIDITY)]}
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

const TABS = [
  ['Credential', undefined],
  ['Accounts', 'accounts'],
] as const;

type DetailsProps = { of: Credential; types: readonly ProviderTypes[] };

function Details({ of, types }: DetailsProps) {
  const { tab } = one.useSearch();
  return (
    <Page title={of.name}>
      {isForMany(of) || of.accountsListedAt !== null ? (
        <TabLinks label="Parts of the credential" tabs={TABS} />
      ) : null}
      {tab ? <CloudAccounts key={of.id} of={of} /> : <Itself of={of} types={types} />}
    </Page>
  );
}

function Itself({ of: credential, types }: DetailsProps) {
  const { id, name } = credential;
  const params = { path: { id } };
  const navigate = useNavigate();
  const uses = useList('/api/v1/resources', { query: { credentialId: id, size: 1 } }).data?.total ?? 0;
  return (
    <>
      <CredentialDetails of={credential} types={types}>
        <FormButton
          label="Rename"
          title={`Rename ${name}`}
          submit="Rename"
          send={(entered) => {
            const body = { name: entered.text('name') };
            return api.PATCH('/api/v1/credentials/{id}', { params, body });
          }}
        >
          <TextField name="name" label="Name" defaultValue={name} />
        </FormButton>
        <ConfirmButton
          label="Delete"
          title={`Delete the credential ${name}?`}
          confirm="Delete credential"
          act={() => api.DELETE('/api/v1/credentials/{id}', { params })}
          onDone={() => navigate({ to: '/credentials' })}
        >
          {uses > 0 ? (
            <Notice tone="warn">It would be refused: in use by {count(uses, 'resource')}.</Notice>
          ) : null}
          <p>Its secrets are erased here; revoke them at the provider, too.</p>
        </ConfirmButton>
      </CredentialDetails>
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
    </>
  );
}
