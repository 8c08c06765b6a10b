import { plainLine, plainName } from '#mail';
import type { ToldRecord } from '#tenant-store';

const MAX_REASON_LENGTH = 300;

/** Something to tell people by mail. */
export interface Notice {
  readonly at: Date;
  /** what happened, in one line */
  readonly title: string;
  /** further lines */
  readonly details: readonly string[];
  /** of the console, where to look or act */
  readonly path: string;
}

/** What a record tells administrators at once. */
export function urgentNotice(record: ToldRecord): Notice | null {
  const { eventType, timestamp, resourceId, resourceName, errorMessage, details } = record;
  if (eventType !== 'RULE_REVOCATION_OVERDUE') return null;
  const { ipAddress, protocol, ports, unwantedSince } = details as Readonly<Record<string, string>>;
  return {
    at: new Date(timestamp),
    title: `${ipAddress} is still open on ${nameOf(resourceName)}`,
    details: [
      `It should be closed since ${timeOf(new Date(unwantedSince!))} (${protocol} ${ports}).`,
      `The last attempt failed: ${reasonOf(errorMessage)}`,
      'Drawbridge keeps trying. If it lasts, remove the rule by hand.',
    ],
    path: `/resources/${resourceId}`,
  };
}

/** What a record tells administrators with the next collected mail. */
export function collectedNotice(record: ToldRecord): Notice | null {
  const title = collectedTitle(record);
  if (title === null) return null;
  const { timestamp, errorMessage, resourceId, resourceType } = record;
  const path = resourceType === 'RESOURCE' ? `/resources/${resourceId}` : `/audit?resourceId=${resourceId}`;
  const details = errorMessage === null ? [] : [reasonOf(errorMessage)];
  return { at: new Date(timestamp), title, details, path };
}

function collectedTitle({ eventType, actorType, result, resourceName }: ToldRecord): string | null {
  const name = nameOf(resourceName);
  if (eventType === 'WEBHOOK_DISABLED') return `A webhook was disabled: ${name}`;
  if (eventType === 'AGENT_OFFLINE') return `The agent of ${name} is away`;
  // whoever asks for a check sees its outcome
  if (actorType !== 'SYSTEM') return null;
  if (eventType === 'RESOURCE_VERIFIED')
    return result === 'FAILURE'
      ? `The resource ${name} cannot be used`
      : `The resource ${name} can be used again`;
  if (eventType === 'CREDENTIAL_VERIFIED' && result === 'FAILURE') return `The credential ${name} is refused`;
  return null;
}

/** `2026-01-05 09:30 UTC` */
export const timeOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const nameOf = (name: string | null): string => (name === null ? 'something' : plainName(name));

const reasonOf = (message: string | null): string =>
  message === null ? 'the reason is not known' : plainLine(message, MAX_REASON_LENGTH);
