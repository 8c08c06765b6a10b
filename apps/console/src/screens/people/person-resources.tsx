import type { Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Download } from '../../parts/download';
import { MAY } from '../../parts/rights';
import { ResourceLink } from '../../parts/words';
import { Empty, Section, type Column } from '../../ui';

const COLUMNS: readonly Column<Schemas['ResourceRightDto']>[] = [
  {
    head: 'Resource',
    sort: 'name',
    cell: ({ resourceId, name }) => <ResourceLink id={resourceId}>{name}</ResourceLink>,
  },
  ...MAY,
];

/** What a person may open, and by which role. */
export const PersonResources = ({ id }: { id: string }) => (
  <Section
    title="May open"
    actions={<Download name="resources" path="/api/v1/users/{id}/resources" of={{ id }} />}
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
