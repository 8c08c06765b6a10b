import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, type Schemas } from '../../api';
import { ButtonLink, Empty, Loaded, Muted, Page, Section, Stack, Table, Time } from '../../ui';
import { CredentialBadge } from './credential-state';
import { Filtered } from './filtered';
import { credentialTypeOf, providerOf, useTypes } from './types';

type Credential = Schemas['CredentialDto'];
const route = getRouteApi('/signed-in/administrator/credentials');

/** All credentials, and whether their providers accept them. */
export function Credentials() {
  const types = useTypes().data;
  const typeText = (each: Credential): string =>
    `${providerOf(types, each)?.label ?? each.provider}: ${credentialTypeOf(types, each)?.label ?? each.credentialType}`;
  return (
    <Page
      title="Credentials"
      lead="With these, Drawbridge changes rules at your providers. Secrets are encrypted and never shown again."
      actions={
        <ButtonLink kind="primary" to="/credentials/new">
          New credential
        </ButtonLink>
      }
    >
      <Section>
        <Loaded query={useAll('/api/v1/credentials')}>
          {(credentials) => (
            <Filtered
              {...route.useSearch()}
              label="Find a credential"
              items={credentials}
              textOf={(each) => `${each.name} ${typeText(each)} ${Object.values(each.hints).join(' ')}`}
            >
              {(rows) => (
                <Table
                  caption="Credentials"
                  rows={rows}
                  keyOf={({ id }) => id}
                  empty={
                    <Empty title="No credential yet">
                      <p>The set-up asks for one, and for what to protect with it.</p>
                      <ButtonLink to="/set-up">Set up access</ButtonLink>
                    </Empty>
                  }
                  columns={[
                    {
                      head: 'Name',
                      cell: ({ id, name }) => (
                        <Link to="/credentials/$id" params={{ id }}>
                          {name}
                        </Link>
                      ),
                    },
                    { head: 'Kind', cell: typeText },
                    {
                      head: 'State',
                      cell: (each) => (
                        <Stack>
                          <CredentialBadge of={each} />
                          {each.verificationError ? <Muted>{each.verificationError}</Muted> : null}
                        </Stack>
                      ),
                    },
                    { head: 'Verified', cell: ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} /> },
                  ]}
                />
              )}
            </Filtered>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
