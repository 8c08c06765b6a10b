import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, type Schemas } from '../../api';
import { ButtonLink, Empty, Loaded, Muted, Page, Section, Stack, Table, Time } from '../../ui';
import { Filtered } from './filtered';
import { ResourceBadge } from './resource-state';
import { providerOf, resourceTypeOf, useTypes } from './types';

type Resource = Schemas['ResourceDto'];
const route = getRouteApi('/signed-in/administrator/resources');

/** All resources: what they point at, and whether access to them can be given. */
export function Resources() {
  const types = useTypes().data;
  const providerText = (each: Resource): string => providerOf(types, each)?.label ?? each.provider;
  const typeText = (each: Resource): string => resourceTypeOf(types, each)?.label ?? each.resourceType;
  return (
    <Page
      title="Resources"
      lead="What people get access to, for a time: a security group, a firewall, a host."
      actions={
        <ButtonLink kind="primary" to="/resources/new">
          New resource
        </ButtonLink>
      }
    >
      <Section>
        <Loaded query={useAll('/api/v1/resources')}>
          {(resources) => (
            <Filtered
              {...route.useSearch()}
              label="Find a resource"
              items={resources}
              textOf={(each) =>
                [each.name, providerText(each), typeText(each), each.resourceIdentifier, each.region].join(
                  ' ',
                )
              }
            >
              {(rows) => (
                <Table
                  caption="Resources"
                  rows={rows}
                  keyOf={({ id }) => id}
                  empty={
                    <Empty title="No resource yet">
                      <p>The set-up leads from a credential to the first access in a few minutes.</p>
                      <ButtonLink to="/set-up">Set up access</ButtonLink>
                    </Empty>
                  }
                  columns={[
                    {
                      head: 'Name',
                      cell: ({ id, name }) => (
                        <Link to="/resources/$id" params={{ id }}>
                          {name}
                        </Link>
                      ),
                    },
                    { head: 'Provider', cell: providerText },
                    {
                      head: 'Target',
                      cell: (each) => (
                        <div>
                          <code>{each.resourceIdentifier}</code>
                          <br />
                          <Muted>{[typeText(each), each.region].filter(Boolean).join(', ')}</Muted>
                        </div>
                      ),
                    },
                    {
                      head: 'State',
                      cell: (each) => (
                        <Stack>
                          <ResourceBadge of={each} />
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
