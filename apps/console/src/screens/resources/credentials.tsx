import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, type Schemas } from '../../api';
import { Muted, Time } from '../../ui';
import { CredentialBadge } from './credential-details';
import { ListScreen } from './list-screen';
import { credentialTypeOf, providerOf, useTypes } from './types';

type Credential = Schemas['CredentialDto'];
const route = getRouteApi('/signed-in/administrator/credentials');

/** All credentials, and whether their providers accept them. */
export function Credentials() {
  const types = useTypes().data;
  const kindOf = (each: Credential): string =>
    `${providerOf(types, each)?.label ?? each.provider}: ${credentialTypeOf(types, each)?.label ?? each.credentialType}`;
  return (
    <ListScreen
      title="Credentials"
      lead="With these, Drawbridge changes rules at your providers. Secrets are encrypted and never shown again."
      what="credential"
      create="/credentials/new"
      query={useAll('/api/v1/credentials')}
      search={route.useSearch()}
      textOf={(each) => `${each.name} ${kindOf(each)} ${Object.values(each.hints).join(' ')}`}
      columns={[
        {
          head: 'Name',
          cell: ({ id, name }) => (
            <Link to="/credentials/$id" params={{ id }}>
              {name}
            </Link>
          ),
        },
        { head: 'Kind', cell: kindOf },
        {
          head: 'State',
          cell: (each) => (
            <div>
              <CredentialBadge of={each} /> <Muted>{each.verificationError}</Muted>
            </div>
          ),
        },
        { head: 'Verified', cell: ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} /> },
      ]}
    />
  );
}
