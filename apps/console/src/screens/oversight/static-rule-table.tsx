import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api';
import { Muted, Table, Time, type Column } from '../../ui';
import { Address, Lines } from './cells';
import { ResourceStates, Status } from './states';

type Rule = Schemas['StaticIpRuleDto'];

/** Static IP rules with the state on each of their resources. */
export const StaticRuleTable = ({
  rules,
  empty,
}: {
  readonly rules: readonly Rule[];
  readonly empty: ReactNode;
}) => <Table caption="Static IP rules" columns={COLUMNS} rows={rules} keyOf={({ id }) => id} empty={empty} />;

const COLUMNS: readonly Column<Rule>[] = [
  {
    head: 'Name',
    cell: ({ id, label }) => (
      <Link to="/static-rules/$id" params={{ id }}>
        {label}
      </Link>
    ),
  },
  { head: 'Address', cell: ({ ipAddress }) => <Address of={ipAddress} /> },
  { head: 'To', cell: ({ resources }) => <ResourceStates of={resources} /> },
  { head: 'State', cell: ({ status }) => <Status of={status} /> },
  {
    head: 'Added',
    cell: ({ createdAt, createdByEmail }) => (
      <Lines>
        <Time at={createdAt} />
        <Muted>by {createdByEmail}</Muted>
      </Lines>
    ),
  },
];
