import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { $api, api, live, type Schemas } from '../../api';
import { useEdit } from '../../parts/edits';
import { AUDIT_EVENTS } from '../../parts/event-texts';
import { defined } from '../../parts/search';
import { Lines } from '../../parts/words';
import { Action, ConfirmButton, CopiedButton, DialogButton, Facts, Form, Loaded, Muted } from '../../ui';
import { Notice } from '../../ui';
import { Page, Row, Section, TextField, Time } from '../../ui';
import { Deliveries, useTests } from './deliveries';
import { AuthorizationField, EventPicker, eventsIn, FORMATS, calledIn, NameField, Secret } from './parts';
import { titleOf, WebhookStatus, type WebhookData } from './parts';

const route = getRouteApi('/signed-in/administrator/webhooks/$id');

/** One webhook: whether it works, what was sent, and what can be changed. */
export function Webhook() {
  const { id } = route.useParams();
  const tests = useTests(id);
  const given = { params: { path: { id } } };
  const options = live<WebhookData>(({ failingSince }) => failingSince !== null || tests.isUnsettled);
  const webhook = $api.useQuery('get', '/api/v1/webhooks/{id}', given, options);
  return (
    <Loaded query={webhook}>
      {(data) => (
        <Shown key={id} webhook={data}>
          <Deliveries of={data} tests={tests} />
        </Shown>
      )}
    </Loaded>
  );
}

const change = (id: string, body: Schemas['UpdateWebhookDto']) =>
  api.PATCH('/api/v1/webhooks/{id}', { params: { path: { id } }, body });

function Shown({ webhook, children }: { webhook: WebhookData; children: ReactNode }) {
  const [secret, setSecret] = useState<string | null>(null);
  const { url, format, isEnabled } = webhook;
  return (
    <Page title={titleOf(webhook)} actions={<State webhook={webhook} />}>
      {isEnabled ? null : (
        <Notice tone="warn">
          Nothing is sent to it. Once it is enabled, it gets what happens from then on.
        </Notice>
      )}
      {secret === null ? null : (
        <Section title="The new secret">
          <Secret>{secret}</Secret>
          <Row>
            <CopiedButton onCopied={() => setSecret(null)} />
          </Row>
        </Section>
      )}
      <Section
        title="Webhook"
        actions={
          <Row>
            <Change webhook={webhook} />
            {format === 'standard' ? <Rotation webhook={webhook} onRotated={setSecret} /> : null}
          </Row>
        }
      >
        <Facts
          of={{
            Status: <WebhookStatus of={webhook} />,
            URL: webhook.hasAuthorization ? `${url}, with an Authorization header` : url,
            For: FORMATS[format],
            Events: webhook.eventTypes.map((event) => AUDIT_EVENTS[event]).join(', ') || 'Every event',
            Created: (
              <Lines>
                <Time at={webhook.createdAt} />
                <Muted>by {webhook.createdByEmail}</Muted>
              </Lines>
            ),
          }}
        />
      </Section>
      {children}
    </Page>
  );
}

function State({ webhook }: { webhook: WebhookData }) {
  const navigate = useNavigate();
  const { id, url, isEnabled } = webhook;
  return (
    <Row>
      {isEnabled ? (
        <ConfirmButton
          kind="normal"
          label="Disable"
          title={`Disable ${calledIn(webhook)}?`}
          act={() => change(id, { isEnabled: false })}
        >
          <p>
            What waits for another attempt is given up, and what happens until it is enabled again is not sent
            to it.
          </p>
        </ConfirmButton>
      ) : (
        <Action label="Enable" kind="primary" act={() => change(id, { isEnabled: true })} />
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${calledIn(webhook)}?`}
        act={() => api.DELETE('/api/v1/webhooks/{id}', { params: { path: { id } } })}
        onDone={() => navigate({ to: '/webhooks' })}
      >
        <p>Nothing is sent to {url} any more, and the list of its deliveries is deleted.</p>
      </ConfirmButton>
    </Row>
  );
}

const Change = ({ webhook }: { webhook: WebhookData }) => (
  <DialogButton label="Change" title="Change the webhook">
    {(close) => <ChangeForm webhook={webhook} close={close} />}
  </DialogButton>
);

function ChangeForm({ webhook, close }: { webhook: WebhookData; close: () => void }) {
  const { id, name, url, format, eventTypes } = webhook;
  const edit = useEdit(webhook, () => api.GET('/api/v1/webhooks/{id}', { params: { path: { id } } }));
  return (
    <Form
      submit="Save"
      onCancel={close}
      onDone={close}
      send={(entered) =>
        edit(
          {
            name: entered.optional('name') ?? null,
            eventTypes: eventsIn(entered),
            ...defined({ url: entered.optional('url'), authorization: entered.optional('authorization') }),
          },
          (body) => change(id, body),
        )
      }
    >
      <NameField value={name ?? ''} />
      <TextField
        name="url"
        label="Another URL"
        type="url"
        required={false}
        maxLength={2048}
        placeholder={url}
        help="Empty: it stays as it is. What may be secret in it is not shown."
      />
      {format === 'standard' ? <AuthorizationField help="Empty: it stays as it is." /> : null}
      <EventPicker chosen={eventTypes} />
    </Form>
  );
}

/** @param onRotated gets the new secret */
const Rotation = (given: { webhook: WebhookData; onRotated: (secret: string) => void }) => (
  <ConfirmButton
    kind="normal"
    label="Rotate the secret"
    title={`Rotate the secret of ${calledIn(given.webhook)}?`}
    act={async () => {
      const of = { params: { path: { id: given.webhook.id } } };
      given.onRotated((await api.POST('/api/v1/webhooks/{id}/rotate-secret', of)).data!.secret);
    }}
  >
    <p>
      You get a new secret. For 24 hours both count, so that you can change the receiver meanwhile. If you
      rotate again within that time, the one of today ends at once.
    </p>
  </ConfirmButton>
);
