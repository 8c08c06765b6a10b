import type { Schemas } from '../../api';
import { EVENTS } from '../../parts/events';
import { Lines, Reason } from '../../parts/words';
import { Badge, Copyable, Notice, Picker, Stack, TextField, Time, type Entered } from '../../ui';

export type WebhookData = Schemas['WebhookDto'];

/** A screen's title, and the text of a link. */
export const titleOf = ({ name, url }: WebhookData): string => name ?? `Webhook to ${new URL(url).host}`;

/** Within a sentence. */
export const calledIn = ({ name, url }: WebhookData): string =>
  name === null ? `the webhook to ${new URL(url).host}` : `the webhook “${name}”`;

export const NameField = ({ value }: { value?: string | undefined }) => (
  <TextField
    name="name"
    label="Name"
    defaultValue={value}
    required={false}
    maxLength={100}
    help="Such as the channel. Without one, it is called by its URL."
  />
);

/** Who reads what a webhook sends. */
export const FORMATS: Readonly<Record<WebhookData['format'], string>> = {
  standard: 'A program',
  slack: 'Slack',
  teams: 'Microsoft Teams',
};

/** Whether it is sent anything, and whether that arrives. */
export const WebhookStatus = ({ of: { isEnabled, failingSince, lastError } }: { of: WebhookData }) => (
  <Lines>
    {isEnabled ? null : <Badge>Disabled</Badge>}
    {isEnabled && failingSince ? <Badge tone="bad">Failing</Badge> : null}
    {isEnabled && !failingSince ? <Badge tone="good">Enabled</Badge> : null}
    {failingSince ? (
      <Reason isBad>
        {isEnabled ? 'since' : 'failed since'} <Time at={failingSince} />: {lastError}
      </Reason>
    ) : null}
  </Lines>
);

export const EventPicker = ({ chosen = [] }: { chosen?: readonly string[] }) => (
  <Picker
    name="eventTypes"
    label="Events"
    chosen={chosen}
    choices={EVENTS.map(([value, text]) => ({ value, text }))}
    help="None chosen: every event is sent. For a chat, choose some: all of them are many."
  />
);

/** A field of that name, which is sent and never shown again. */
export const AuthorizationField = ({ help }: { help: string }) => (
  <TextField
    name="authorization"
    label="Authorization header"
    type="password"
    autoComplete="off"
    required={false}
    maxLength={2000}
    placeholder="Bearer …"
    help={help}
  />
);

/** What was chosen in it. */
export const eventsIn = (entered: Entered) =>
  // each is of its list
  entered.all('eventTypes') as WebhookData['eventTypes'];

const CHECK = `import { Webhook } from 'standardwebhooks';

// body: the text as it was received, before it is parsed
new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers);`;

/** A secret that is shown once, and what it is for. */
export const Secret = ({ children }: { children: string }) => (
  <Stack>
    <Notice tone="warn" announced>
      It is shown this once. Copy it to the receiver before you leave.
    </Notice>
    <Copyable text={children} label="Secret" />
    <p>
      With the secret, the receiver checks that a request comes from here and was not changed. A library of{' '}
      <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
        Standard Webhooks
      </a>{' '}
      does it, in most languages. In Node.js:
    </p>
    <Copyable text={CHECK} label="Check of a request" />
  </Stack>
);
