import { getRouteApi, Link } from '@tanstack/react-router';
import { useAll, type Schemas } from '../../api';
import { Muted, Time } from '../../ui';
import { ListScreen } from './list-screen';
import { ResourceBadge } from './resource-state';
import { providerOf, resourceTypeOf, useTypes } from './types';

type Resource = Schemas['ResourceDto'];
const route = getRouteApi('/signed-in/administrator/resources');

/** All resources: what they point at, and whether access to them can be given. */
export function Resources() {
  const types = useTypes().data;
  const providerText = (each: Resource): string => providerOf(types, each)?.label ?? each.provider;
  const detailOf = (each: Resource): string =>
    [resourceTypeOf(types, each)?.label ?? each.resourceType, each.region].filter(Boolean).join(', ');
  return (
    <ListScreen
      title="Resources"
      lead="What people get access to, for a time: a security group, a firewall, a host."
      what="resource"
      create="/resources/new"
      query={useAll('/api/v1/resources')}
      search={route.useSearch()}
      textOf={(each) => [each.name, providerText(each), each.resourceIdentifier, detailOf(each)].join(' ')}
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
              <code>{each.resourceIdentifier}</code> <Muted>{detailOf(each)}</Muted>
            </div>
          ),
        },
        {
          head: 'State',
          cell: (each) => (
            <div>
              <ResourceBadge of={each} /> <Muted>{each.verificationError}</Muted>
            </div>
          ),
        },
        { head: 'Verified', cell: ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} /> },
      ]}
    />
  );
}
