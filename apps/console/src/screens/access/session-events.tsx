import { useList, type Schemas } from '../../api';
import { Badge, Empty, Loaded, Muted, Pager, Section, Time, type Tone } from '../../ui';
import styles from './access.module.css';

type RuleEvent = Schemas['RuleEventDto'];

const PAGE_SIZE = 50;

const KINDS: Readonly<Record<RuleEvent['kind'], readonly [text: string, tone: Tone]>> = {
  OPENED: ['opened', 'good'],
  HELD: ['was open already', 'good'],
  RESTORED: ['open again', 'good'],
  CLOSED: ['closed', 'neutral'],
  RELEASED: ['no longer needed here', 'neutral'],
  MISSING: ['missing', 'warn'],
  CHANGED: ['changed by something else', 'warn'],
  UNMARKED: ['its mark was removed', 'warn'],
  FOUND: ['found', 'warn'],
  ADD_REFUSED: ['opening refused', 'bad'],
  REMOVAL_REFUSED: ['closing refused', 'bad'],
  ABANDONED: ['given up', 'bad'],
};

interface EventsProps {
  readonly id: string;
  readonly page: number;
  readonly isUnsettled: boolean;
}

/** What was observed of a session's rules, newest first. */
export function SessionEvents({ id, page, isUnsettled }: EventsProps) {
  const events = useList(
    '/api/v1/sessions/{id}/events',
    { path: { id }, query: { page, size: PAGE_SIZE } },
    { isUnsettled: () => isUnsettled },
  );
  return (
    <Section title="What was observed">
      <Loaded query={events}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="Nothing was observed yet" />
          ) : (
            <>
              <ol className={styles['events']}>
                {items.map((event) => (
                  <Event key={event.id} event={event} />
                ))}
              </ol>
              <Pager page={page} size={PAGE_SIZE} total={total} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function Event({ event }: { readonly event: RuleEvent }) {
  const { kind, target, address, protocol, ports, cause, message, resourceName, at, firstObservedAfter } =
    event;
  const [text, tone] = KINDS[kind];
  return (
    <li className={styles['event']}>
      <Time at={firstObservedAfter ?? at} />
      <div>
        <Badge tone={tone}>{text}</Badge> <strong>{resourceName}</strong>{' '}
        <code>
          {address} {protocol} {ports}
        </code>
        <div>
          <Muted>
            on {target.identifier}
            {cause === null ? '' : `: ${cause.toLowerCase().replaceAll('_', ' ')}`}
          </Muted>
        </div>
        {message === null ? null : <div className={styles['bad']}>{message}</div>}
      </div>
    </li>
  );
}
