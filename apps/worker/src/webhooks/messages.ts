import type { WebhookFormat } from '#entities';
import { plainLine } from '#mail';
import type { FeedRecord } from '#tenant-store';
import { screenOf } from '../screen-of';

/** Kept in capitals. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['IP', 'API', 'MFA', 'OIDC']);
const MAX_NAMES = 5;
const LINK_TEXT = 'Open in Drawbridge';
const HOUR_MS = 3_600_000;

/** A record for a person: what happened, and who, which resource, until when, why. */
interface Message {
  readonly title: string;
  readonly text: string;
  /** null: this deployment does not know its own address */
  readonly link: string | null;
}

/** The body that tells a receiver of a record. @param publicUrl of the console; undefined: no link */
export function bodyOf(format: WebhookFormat, record: FeedRecord, publicUrl: string | undefined): string {
  const { eventType: type, timestamp } = record;
  if (format === 'standard') return JSON.stringify({ type, timestamp, data: record });
  const message = messageOf(record, publicUrl);
  return JSON.stringify(format === 'slack' ? slackBody(message) : teamsBody(message));
}

function messageOf(record: FeedRecord, publicUrl: string | undefined): Message {
  const { result, errorMessage, actorEmail, actorType } = record;
  const until = endOf(record);
  const parts = [
    `by ${actorEmail ?? (actorType === 'SYSTEM' ? 'Drawbridge' : actorType.toLowerCase().replace('_', ' '))}`,
    ...objectsOf(record),
    ...(until === null ? [] : [`until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC`]),
    ...reasonsOf(record),
    ...(errorMessage === null ? [] : [errorMessage]),
  ];
  return {
    title: `${titleOf(record.eventType)}${result === 'FAILURE' ? ': failed' : ''}`,
    text: parts.join(' · '),
    link: publicUrl === undefined ? null : `${publicUrl.replace(/\/$/, '')}${screenOf(record)}`,
  };
}

/** `API_KEY_CREATED`: "API key created" */
function titleOf(eventType: string): string {
  const words = eventType.split('_').map((word) => (ABBREVIATIONS.has(word) ? word : word.toLowerCase()));
  const text = words.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The resources of a session, or of a request with who asks; the object of any other action. */
function objectsOf({ details, eventType, resourceName }: FeedRecord): string[] {
  const { resources } = details;
  const names = (Array.isArray(resources) ? (resources as { name?: unknown }[]) : []).flatMap(({ name }) =>
    typeof name === 'string' ? [name] : [],
  );
  if (names.length === 0) return resourceName === null ? [] : [resourceName];
  const more = names.length - MAX_NAMES;
  const shown = `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return eventType.startsWith('ACCESS_REQUEST_') ? [`for ${resourceName}`, shown] : [shown];
}

/**
 * The ticket and the reason of access, with the note of a decision. Of a stopped session only the cause, which a stop by a
 * person does not have.
 */
const reasonsOf = ({ eventType, details: { ticket, reason, note, cause } }: FeedRecord): string[] =>
  eventType === 'SESSION_STOPPED'
    ? [cause].filter((given) => typeof given === 'string').map(titleOf)
    : [ticket, reason, note].filter((given) => typeof given === 'string');

/** A session's; what is asked for ends so long after its start. */
function endOf({ eventType, timestamp, details: { durationHours, expiresAt } }: FeedRecord): Date | null {
  if (eventType.startsWith('ACCESS_REQUEST')) return null;
  if (typeof expiresAt === 'string') return new Date(expiresAt);
  return typeof durationHours === 'number' ? new Date(Date.parse(timestamp) + durationHours * HOUR_MS) : null;
}

const escaped = (given: string): string =>
  given.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const section = (type: 'mrkdwn' | 'plain_text', shown: string): object => ({
  type: 'section',
  text: { type, text: shown },
});

/** Of a text of Slack's, with room for the escapes. */
const MAX_SLACK_TEXT = 2000;

/**
 * For an incoming webhook. What people wrote makes neither links, nor mentions, nor bold letters: it is a text without
 * markup, also where a receiver of the same format shows `text` alone.
 */
function slackBody({ title, text, link }: Message): object {
  const plain = plainLine(text, MAX_SLACK_TEXT);
  return {
    text: `${title} ${escaped(plain).replaceAll(/[*_~`]/g, ' ')}`,
    blocks: [
      section('mrkdwn', `*${escaped(title)}*`),
      section('plain_text', plain),
      ...(link === null ? [] : [section('mrkdwn', `<${escaped(link)}|${LINK_TEXT}>`)]),
    ],
    unfurl_links: false,
  };
}

/** Text, not Markdown as in other blocks. */
const run = (text: string, weight: 'Bolder' | 'Default'): object => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, weight }],
});

/** For a workflow "Post to a channel when a webhook request is received". */
function teamsBody({ title, text, link }: Message): object {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    fallbackText: title,
    body: [run(title, 'Bolder'), run(text, 'Default')],
    ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: LINK_TEXT, url: link }] }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}
