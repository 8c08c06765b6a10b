import { useState } from 'react';
import { api, serverNow, useList, type List, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { PAGE_SIZE } from '../../parts/search';
import { AUDIT_EVENTS } from '../../parts/event-texts';
import { statusFilter } from '../../parts/filters';
import { Reason } from '../../parts/words';
import { Action, Badge, Empty, localTime, Notice, Section, Time, type Column, type Tone } from '../../ui';
import type { WebhookData } from './parts';

type Delivery = Schemas['WebhookDeliveryDto'];

const STATUS: Readonly<Record<Delivery['status'], readonly [text: string, tone: Tone]>> = {
  PENDING: ['Retrying', 'warn'],
  REDELIVERING: ['Being sent again', 'busy'],
  DELIVERED: ['Delivered', 'good'],
  FAILED: ['Given up', 'bad'],
};

const COLUMNS: readonly Column<Delivery>[] = [
  { head: 'Sent', cell: ({ sentAt }) => <Time at={sentAt} /> },
  { head: 'Event', cell: ({ eventType }) => AUDIT_EVENTS[eventType] },
  { head: 'Status', cell: ({ status }) => <Badge tone={STATUS[status][1]}>{STATUS[status][0]}</Badge> },
  {
    head: 'Answer',
    cell: ({ responseCode, error }) => (error === null ? responseCode : <Reason isBad>{error}</Reason>),
  },
  { head: 'Attempts', cell: ({ attempts }) => attempts },
  { head: 'Next attempt', cell: ({ dueAt }) => (dueAt === null ? 'none' : <Time at={dueAt} />) },
];

const SOON_MS = 10_000;

/** About to be sent. */
const isDue = ({ dueAt }: Delivery): boolean =>
  dueAt !== null && new Date(dueAt).getTime() < serverNow() + SOON_MS;

const lastTest = ({ items }: List<Delivery>): Delivery | undefined =>
  items.find(({ eventType }) => eventType === 'WEBHOOK_TESTED');

const PATH = '/api/v1/webhooks/{id}/deliveries';

/** The tests that are sent from here. */
export function useTests(id: string) {
  // the last one before; empty: there was none
  const [before, setBefore] = useState<string | null>(null);
  const isAwaited = (list: List<Delivery>): boolean => before === (lastTest(list)?.id ?? '');
  const isUnsettled = (list: List<Delivery>): boolean => isAwaited(list) || list.items.some(isDue);
  // as the list below asks for it: read once for both
  const query = { page: 0, size: PAGE_SIZE };
  const { data: newest } = useList(PATH, { path: { id }, query }, { isUnsettled });
  return {
    /** whether anything is about to be sent */
    isUnsettled: newest !== undefined && isUnsettled(newest),
    /** null: none was sent from here; undefined: it is on its way */
    last: before === null || !newest ? null : isAwaited(newest) ? undefined : lastTest(newest),
    send: async (): Promise<void> => {
      await api.POST('/api/v1/webhooks/{id}/test', { params: { path: { id } } });
      setBefore((newest && lastTest(newest)?.id) ?? '');
    },
  };
}

interface DeliveriesProps {
  readonly of: WebhookData;
  readonly tests: ReturnType<typeof useTests>;
}

/** What was sent to a webhook within the last 30 days. */
export function Deliveries({ of: { id, isEnabled }, tests }: DeliveriesProps) {
  const again = (deliveryId: string): Promise<unknown> =>
    api.POST(`${PATH}/{deliveryId}/redeliver`, { params: { path: { id, deliveryId } } });
  const sendAgain = (delivery: Delivery) =>
    delivery.status === 'REDELIVERING' ? null : (
      <Action kind="plain" label="Send again" act={() => again(delivery.id)} />
    );
  return (
    <Section title="Deliveries" actions={isEnabled ? <Action label="Send a test" act={tests.send} /> : null}>
      {tests.last === null ? null : <Outcome of={tests.last} />}
      <Collection
        caption="Deliveries, newest first"
        path={PATH}
        of={{ id }}
        filters={[statusFilter(STATUS)]}
        isUnsettled={isDue}
        columns={isEnabled ? [...COLUMNS, { head: '', cell: sendAgain }] : COLUMNS}
        empty={<Empty title="Nothing was sent yet. What happens is sent within a few seconds." />}
      />
    </Section>
  );
}

/** What became of a test. @param of undefined: it was not sent yet */
function Outcome({ of }: { of: Delivery | undefined }) {
  if (of === undefined)
    return <Notice announced>The test is on its way, after what is to be sent before it…</Notice>;
  const { status, responseCode, error, dueAt } = of;
  if (status === 'DELIVERED')
    return (
      <Notice tone="good" announced>
        The test was delivered: the receiver answered {responseCode}.
      </Notice>
    );
  return (
    <Notice tone="bad" announced>
      The test was not delivered: {error}.{dueAt === null ? '' : ` It is tried again at ${localTime(dueAt)}.`}
    </Notice>
  );
}
