import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Download } from '../../parts/download';
import { MAY } from '../../parts/rights';
import { UserLines } from '../../parts/words';
import { Empty, Row, Section, type Column } from '../../ui';

const COLUMNS: readonly Column<Schemas['PersonRightDto']>[] = [
  {
    head: 'Name',
    sort: 'name',
    cell: ({ userId, name, email }) => <UserLines id={userId} name={name} email={email} />,
  },
  ...MAY,
];

/** Who may open a resource, and by which role. */
export const ResourcePeople = ({ id }: { id: string }) => (
  <Section
    title="May be opened by"
    actions={
      <Row>
        <Link to="/open" search={{ tab: 'all', resourceId: id }}>
          All sessions
        </Link>
        <Download name="people" path="/api/v1/resources/{id}/people" of={{ id }} />
      </Row>
    }
  >
    <Collection
      caption="People who may open the resource"
      path="/api/v1/resources/{id}/people"
      of={{ id }}
      columns={COLUMNS}
      search="name or e-mail"
      sort="name"
      empty={
        <Empty title="No role reaches it">
          <Link to="/roles">Roles</Link>
        </Empty>
      }
    />
  </Section>
);
