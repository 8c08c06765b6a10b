import { getRouteApi, Link } from '@tanstack/react-router';
import { useList } from '../../api';
import { ButtonLink, Empty, Muted, Page, Section } from '../../ui';
import { count, Listed, PAGE_SIZE } from './parts';

const route = getRouteApi('/signed-in/administrator/roles');

/** The roles of the organization. */
export function Roles() {
  const { page = 0 } = route.useSearch();
  const create = (
    <ButtonLink to="/roles/new" kind="primary">
      Create a role
    </ButtonLink>
  );
  return (
    <Page
      title="Roles"
      lead="A role says who may open access to which resources, and for how long at a time."
      actions={create}
    >
      <Section>
        <Listed
          caption="Roles"
          query={useList('/api/v1/roles', { query: { page, size: PAGE_SIZE } })}
          page={page}
          columns={[
            {
              head: 'Name',
              cell: ({ id, name, description }) => (
                <>
                  <Link to="/roles/$id" params={{ id }}>
                    {name}
                  </Link>{' '}
                  <Muted>{description}</Muted>
                </>
              ),
            },
            { head: 'Who', cell: ({ userIds }) => count(userIds.length, 'user') },
            { head: 'Reaches', cell: ({ resourceIds }) => count(resourceIds.length, 'resource') },
            { head: 'At most', cell: ({ maxSessionDurationHours }) => `${maxSessionDurationHours} h` },
          ]}
          empty={<Empty title="There is no role yet: nobody reaches anything without one.">{create}</Empty>}
        />
      </Section>
    </Page>
  );
}
