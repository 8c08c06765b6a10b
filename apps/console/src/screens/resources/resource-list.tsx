import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, useList } from '../../api';
import { Listed, PAGE_SIZE } from '../../parts/listed';
import { Lines } from '../../parts/words';
import { Badge, ButtonLink, Code, Empty, Loaded, Muted, Page, Section, Time, type Column } from '../../ui';
import { providerOf, resourceTypeOf, useTypes, type ProviderTypes, type Resource } from './types';

const route = getRouteApi('/signed-in/administrator/resources');

/** Leads from nothing to the first access. */
export const NOTHING_YET = (
  <Empty title="Nothing is set up yet">
    <Link to="/set-up">Set up access</Link>
  </Empty>
);

/** Whether new sessions may use a resource, and if not, why. */
export function ResourceBadge({ of }: { of: Resource }) {
  if (of.isActive) return <Badge tone="good">active</Badge>;
  if (of.verificationError !== null) return <Badge tone="bad">refused</Badge>;
  return of.lastVerifiedAt === null ? <Badge tone="warn">not verified yet</Badge> : <Badge>paused</Badge>;
}

export const resourceColumns = (types: readonly ProviderTypes[]): readonly Column<Resource>[] => [
  {
    head: 'Name',
    cell: ({ id, name }) => (
      <Link to="/resources/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { head: 'Provider', cell: (each) => providerOf(types, each).label },
  {
    head: 'Target',
    cell: (each) => (
      <Lines>
        <Code>{each.resourceIdentifier}</Code>
        <Muted>{[resourceTypeOf(types, each).label, each.region].filter(Boolean).join(', ')}</Muted>
      </Lines>
    ),
  },
  {
    head: 'State',
    cell: (each) => <ResourceBadge of={each} />,
  },
  { head: 'Verified', cell: ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} none="never" /> },
];

/** All resources: what they point at, and whether new sessions may use them. */
export function Resources() {
  const { page = 0 } = route.useSearch();
  // another one can be chosen in the step before
  const [credential] = useAll('/api/v1/credentials').data ?? [];
  const resources = useList('/api/v1/resources', { query: { page, size: PAGE_SIZE } });
  return (
    <Page
      title="Resources"
      lead="What people get access to, for a time: a security group, a firewall, a host."
      actions={
        <ButtonLink to="/set-up" search={credential ? { step: 'resource', credential: credential.id } : {}}>
          New resource
        </ButtonLink>
      }
    >
      <Section>
        <Loaded query={useTypes()}>
          {(types) => (
            <Listed
              caption="Resources"
              query={resources}
              page={page}
              columns={resourceColumns(types)}
              empty={NOTHING_YET}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
