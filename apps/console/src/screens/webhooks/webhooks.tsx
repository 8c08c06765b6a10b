import { Link } from '@tanstack/react-router';
import { CollectionScreen, timeColumn } from '../../parts/collection';
import { AUDIT_EVENTS } from '../../parts/event-texts';
import { WORKING } from '../../parts/filters';
import { count, Lines } from '../../parts/words';
import { ButtonLink, Empty, Muted, type Column } from '../../ui';
import { FORMATS, WebhookStatus, type WebhookData } from './parts';

const COLUMNS: readonly Column<WebhookData>[] = [
  { head: 'Webhook', sort: 'name', cell: (webhook) => <WebhookLink to={webhook} /> },
  { head: 'For', cell: ({ format }) => FORMATS[format] },
  { head: 'Events', cell: ({ eventTypes }) => eventsOf(eventTypes) },
  { head: 'Status', cell: (webhook) => <WebhookStatus of={webhook} /> },
  timeColumn('Created', 'createdAt'),
];

/** Where events of this organization are sent. */
export const Webhooks = () => (
  <CollectionScreen
    title="Webhooks"
    lead="Records of the audit trail, sent to a program, to Slack or to Teams as they are written."
    create={<ButtonLink to="/webhooks/new">Create a webhook</ButtonLink>}
    caption="Webhooks"
    path="/api/v1/webhooks"
    columns={COLUMNS}
    search="name, URL"
    filters={[WORKING]}
    sort="createdAt"
    empty={
      <Empty title="There is no webhook yet">
        <p>
          A webhook tells at once who opened what, what ended, and which rule is still open though it should
          be closed: in a channel where people see it, or to a program that acts on it.
        </p>
        <p>
          <Link to="/webhooks/new">Create the first one</Link>, or read in the{' '}
          <a href="/docs">documentation of the API</a> what is sent.
        </p>
      </Empty>
    }
  />
);

/** The whole URL is on the webhook's page. */
const MAX_SHOWN = 100;

function WebhookLink({ to: { id, name, url } }: { to: WebhookData }) {
  const shown = url.length > MAX_SHOWN ? `${url.slice(0, MAX_SHOWN)}…` : url;
  return (
    <Lines>
      <Link to="/webhooks/$id" params={{ id }} title={url}>
        {name ?? shown}
      </Link>
      {name === null ? null : <Muted>{shown}</Muted>}
    </Lines>
  );
}

function eventsOf([first, ...others]: WebhookData['eventTypes']): string {
  if (first === undefined) return 'Every event';
  const text = AUDIT_EVENTS[first];
  return others.length === 0 ? text : `${text} and ${count(others.length, 'other')}`;
}
