import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { CopiedButton, Form, Page, Row, Section, SelectField, TextField } from '../../ui';
import { AuthorizationField, EventPicker, eventsIn, FORMATS, NameField, Secret } from './parts';
import type { WebhookData } from './parts';

type Format = WebhookData['format'];
type Created = Schemas['CreatedWebhookDto'];

const URL_HELP: Readonly<Record<Format, string>> = {
  standard:
    'Each record is posted to it as signed JSON. A status from 200 to 299 within 10 seconds accepts it.',
  slack: 'In Slack, add an incoming webhook to a channel, and copy its URL.',
  teams:
    'In the channel’s menu, choose Workflows, then “Post to a channel when a webhook request is received”, and copy its URL.',
};

/** A webhook that is to be. A program gets a secret, which is shown once. */
export function NewWebhook() {
  const navigate = useNavigate();
  const [format, setFormat] = useState<Format>('standard');
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null)
    return (
      <Page title="The secret of the webhook">
        <Section>
          <Secret>{created.secret}</Secret>
          <Row>
            <CopiedButton
              onCopied={() => void navigate({ to: '/webhooks/$id', params: { id: created.id } })}
            />
          </Row>
        </Section>
      </Page>
    );
  return (
    <Page title="Create a webhook">
      <Section>
        <Form
          submit="Create the webhook"
          send={async (entered) => {
            const authorization = entered.optional('authorization') ?? null;
            const body = {
              name: entered.optional('name') ?? null,
              url: entered.text('url'),
              authorization,
              format,
              eventTypes: eventsIn(entered),
            };
            const { data } = await api.POST('/api/v1/webhooks', { body });
            // chats check no signature
            if (format === 'standard') setCreated(data!);
            else await navigate({ to: '/webhooks/$id', params: { id: data!.id } });
          }}
        >
          <SelectField
            name="format"
            label="Sent to"
            value={format}
            options={Object.entries(FORMATS)}
            onChange={(chosen) => setFormat(chosen as Format)}
          />
          <NameField />
          <TextField
            name="url"
            label="URL"
            type="url"
            maxLength={2048}
            placeholder="https://"
            help={URL_HELP[format]}
          />
          {format === 'standard' ? <AuthorizationField help="For receivers that demand one." /> : null}
          <EventPicker />
        </Form>
      </Section>
    </Page>
  );
}
