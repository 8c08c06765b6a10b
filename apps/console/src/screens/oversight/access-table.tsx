import type { ReactNode } from 'react';
import type { Schemas } from '../../api';
import { Muted, Table, Time, type Column } from '../../ui';
import { Address, AuditLink, codeText, Lines, ResourceLink, SessionLink } from './cells';

type Item = Schemas['AccessItemDto'];

interface AccessTableProps {
  readonly items: readonly Item[];
  readonly empty: ReactNode;
}

/** Items of the access report. */
export const AccessTable = ({ items, empty }: AccessTableProps) => (
  // no part of an item is unique: a holder may have had access several times
  <Table
    caption="Access"
    columns={COLUMNS}
    rows={items}
    keyOf={(item) => JSON.stringify(item)}
    empty={empty}
  />
);

const COLUMNS: readonly Column<Item>[] = [
  { head: 'Who', cell: (item) => <Holder item={item} /> },
  {
    head: 'From',
    cell: ({ address, protocol, ports }) => (
      <Lines>
        <Address of={address.replace(/\/(32|128)$/, '')} />
        <Muted>
          {protocol} {ports === '*' ? 'every port' : ports}
        </Muted>
      </Lines>
    ),
  },
  {
    head: 'To',
    cell: ({ resource, target }) => (
      <Lines>
        <ResourceLink {...resource} />
        <Muted>
          {target.provider} {target.identifier}
        </Muted>
      </Lines>
    ),
  },
  {
    head: 'Seen open',
    cell: ({ certainFrom, certainUntil }) =>
      certainFrom === null ? (
        <Muted>never</Muted>
      ) : (
        <span>
          <Time at={certainFrom} /> – <Time at={certainUntil} />
        </span>
      ),
  },
  {
    head: 'Possible',
    cell: ({ possibleFrom, possibleUntil }) => (
      <span>
        {possibleFrom === null ? 'before it was first read' : <Time at={possibleFrom} />} –{' '}
        {possibleUntil === null ? 'no end seen' : <Time at={possibleUntil} />}
      </span>
    ),
  },
  { head: 'Why', cell: ({ cause }) => (cause === null ? null : codeText(cause)) },
];

const HOLDERS: Readonly<Record<Item['holderKind'], readonly [name: string, explanation: string]>> = {
  SESSION: ['Session', 'Session'],
  STATIC_RULE: ['Static IP rule', 'Audit trail of the rule'],
  ORPHAN: ['Nobody', 'Drawbridge’s own rule, being removed'],
  UNMANAGED: ['Unmanaged rule', 'Drawbridge did not create it and leaves it alone'],
  OTHER: ['Another organization', 'on the same target'],
};

function Holder({ item: { holderKind, holderId, userEmail } }: { readonly item: Item }) {
  const [name, explanation] = HOLDERS[holderKind];
  return (
    <Lines>
      {userEmail ?? name}
      <Muted>
        {holderId === null ? (
          explanation
        ) : holderKind === 'SESSION' ? (
          <SessionLink id={holderId} name={explanation} />
        ) : (
          // the rule itself may be deleted
          <AuditLink id={holderId}>{explanation}</AuditLink>
        )}
      </Muted>
    </Lines>
  );
}
