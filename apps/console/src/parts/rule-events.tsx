import type { Schemas } from '../api';
import { Badge, Code, Empty, Muted, Section, Time, type Column, type Tone } from '../ui';
import { Collection } from './collection';
import { CAUSES } from './event-texts';
import { TIMES } from './filters';
import { Lines, Reason, wordsOf } from './words';

type RuleEvent = Schemas['RuleEventDto'];

const KINDS: Readonly<Record<RuleEvent['kind'], readonly [text: string, tone: Tone]>> = {
  OPENED: ['opened', 'good'],
  HELD: ['was open already', 'good'],
  RESTORED: ['open again', 'good'],
  CLOSED: ['closed', 'neutral'],
  RELEASED: ['no longer needed here', 'neutral'],
  MISSING: ['missing', 'warn'],
  CHANGED: ['changed by something else', 'warn'],
  FOUND: ['found', 'warn'],
  ADD_REFUSED: ['opening refused', 'bad'],
  REMOVAL_REFUSED: ['closing refused', 'bad'],
  ABANDONED: ['given up', 'bad'],
};

/** An address, and what it may reach. */
export const RuleText = ({ address, protocol, ports }: Pick<RuleEvent, 'address' | 'protocol' | 'ports'>) => (
  <Lines>
    <Code>{address}</Code>
    <Muted>{protocol === 'all' ? 'everything' : `${protocol} ${ports === '*' ? 'every port' : ports}`}</Muted>
  </Lines>
);

const COLUMNS: readonly Column<RuleEvent>[] = [
  { head: 'When', cell: ({ at, firstObservedAfter }) => <Time at={firstObservedAfter ?? at} isExact /> },
  {
    head: 'What',
    cell: ({ kind, cause, message }) => (
      <Lines>
        <Badge tone={KINDS[kind][1]}>{KINDS[kind][0]}</Badge>
        {cause === null ? null : <Muted>{CAUSES[cause]}</Muted>}
        {message === null ? null : <Reason isBad={KINDS[kind][1] === 'bad'}>{message}</Reason>}
      </Lines>
    ),
  },
  { head: 'Rule', cell: (event) => <RuleText {...event} /> },
  {
    head: 'Where',
    cell: ({ resourceName, target }) => (
      <Lines>
        {resourceName}
        <Code>{target.identifier}</Code>
      </Lines>
    ),
  },
  { head: 'Who', cell: ({ userEmail, holderKind }) => userEmail ?? wordsOf(holderKind) },
];

interface RuleEventsProps {
  readonly of: 'sessions' | 'resources';
  readonly id: string;
  readonly isUnsettled?: boolean;
}

/** What was observed of the rules of a session or a resource, newest first. */
export const RuleEvents = ({ of, id, isUnsettled = false }: RuleEventsProps) => (
  <Section title="What was observed">
    <Collection
      caption="Events of the rules"
      path={`/api/v1/${of}/{id}/events`}
      of={{ id }}
      columns={COLUMNS}
      filters={TIMES}
      isUnsettled={() => isUnsettled}
      empty={<Empty title="Nothing was observed yet" />}
    />
  </Section>
);
