import type { Schemas } from '../api';
import { Badge, type Column, Muted } from '../ui';
import { count, Lines, RoleLink } from './words';

type Right = Schemas['PersonRightDto' | 'ResourceRightDto'];

/** By which roles, how long, and on what terms somebody may open something: the same for a person and for a resource. */
export const MAY: readonly Column<Right>[] = [
  {
    head: 'By',
    cell: ({ roles }) => (
      <Lines>
        {roles.map(({ id, name, by }) => (
          <span key={id}>
            <RoleLink id={id}>{name}</RoleLink> {by === 'LABEL' ? <Muted>by labels</Muted> : null}
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
