import { Link } from '@tanstack/react-router';
import { api, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Download, MAY } from '../../parts/rights';
import { Empty, Section, type Column } from '../../ui';

const COLUMNS: readonly Column<Schemas['ResourceRightDto']>[] = [
  {
    head: 'Resource',
    sort: 'name',
    cell: ({ resourceId, name }) => (
      <Link to="/resources/$id" params={{ id: resourceId }}>
        {name}
      </Link>
    ),
  },
  ...MAY,
];

/** What a person may open, and by which role. */
export const PersonResources = ({ id }: { id: string }) => (
  <Section
    title="May open"
    actions={
      <Download
        name="resources"
        fetchFile={() =>
          api.GET('/api/v1/users/{id}/resources', {
            params: { path: { id }, query: { format: 'csv' } },
            parseAs: 'blob',
          })
        }
      />
    }
  >
    <Collection
      caption="Resources that the account may open"
      path="/api/v1/users/{id}/resources"
      of={{ id }}
      columns={COLUMNS}
      search="name"
      sort="name"
      empty={<Empty title="None of its roles has a resource" />}
    />
  </Section>
);
