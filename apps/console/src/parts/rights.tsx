import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api';
import { Action, Badge, Muted, type Column } from '../ui';
import { saveAs } from './save-as';
import { count, Lines } from './words';

type Right = Schemas['PersonRightDto' | 'ResourceRightDto'];

/** By which roles, how long, and on what terms somebody may open something: the same for a person and for a resource. */
export const MAY: readonly Column<Right>[] = [
  {
    head: 'By',
    cell: ({ roles }) => (
      <Lines>
        {roles.map(({ id, name, by }) => (
          <span key={id}>
            <Link to="/roles/$id" params={{ id }}>
              {name}
            </Link>{' '}
            {by === 'LABEL' ? <Muted>by labels</Muted> : null}
          </span>
        ))}
      </Lines>
    ),
  },
  { head: 'At most', cell: ({ maxSessionDurationHours }) => `${maxSessionDurationHours} h` },
  {
    head: 'On terms',
    cell: ({ approvalsNeeded, needsReason, mayBreakGlass }) =>
      [
        approvalsNeeded > 0 ? count(approvalsNeeded, 'approval') : '',
        needsReason ? 'a reason' : '',
        mayBreakGlass ? 'in an emergency without approval' : '',
      ]
        .filter(Boolean)
        .join(', ') || <Muted>none</Muted>,
  },
  { head: 'Now', cell: ({ openNow }) => (openNow ? <Badge tone="good">open</Badge> : null) },
];

/** All of a list as a file. @param fetchFile as a blob */
export const Download = ({
  name,
  fetchFile,
}: {
  name: string;
  fetchFile: () => Promise<{ data?: unknown }>;
}) => (
  <Action
    label="Download as CSV"
    busy="Fetching the file…"
    act={async () => saveAs(name, (await fetchFile()).data)}
  />
);
