import type { NoticeCursorKind, NoticeSwitch } from '#entities';
import { plainLine, plainName } from '#mail';
import type { ToldRecord } from '#tenant-store';

const MAX_REASON_LENGTH = 300;

/** Something to tell people by mail. */
export interface Notice {
  readonly kind: NoticeCursorKind;
  /** with which somebody turns it off; null: nobody can */
  readonly switchedBy: NoticeSwitch | null;
  /** whom it concerns; null: administrators */
  readonly holder: string | null;
  readonly at: Date;
  /** what happened, in one line */
  readonly title: string;
  /** further lines */
  readonly details: readonly string[];
  /** of the console, where to look or act */
  readonly path: string;
  /** it repeats itself: not told when the same was recorded within a day before */
  readonly onceADay?: boolean;
}

/** What a record tells; null: nothing. */
export function noticeOf(record: ToldRecord): Notice | null {
  const said = overdue(record) ?? ofSession(record) ?? collected(record);
  return said && { at: new Date(record.timestamp), path: pathOf(record), ...said };
}

type Said = Omit<Notice, 'at' | 'path'>;

function overdue({ eventType, resourceName, errorMessage, details }: ToldRecord): Said | null {
  if (eventType !== 'RULE_REVOCATION_OVERDUE') return null;
  const { ipAddress, protocol, ports, unwantedSince } = details as Readonly<Record<string, string>>;
  return {
    kind: 'OVERDUE',
    switchedBy: null,
    holder: null,
    title: `${ipAddress} is still open on ${nameOf(resourceName)}`,
    details: [
      `It should be closed since ${timeOf(new Date(unwantedSince!))} (${protocol} ${ports}).`,
      `The last attempt failed: ${reasonOf(errorMessage)}`,
      'Drawbridge keeps trying. If it lasts, remove the rule by hand.',
    ],
  };
}

/** What its holder is told: that it ends, unless that is over, and that somebody else has ended it. */
function ofSession({ eventType, result, actorEmail, resourceName, details }: ToldRecord): Said | null {
  const { userId, ipv4Address, ipv6Address, expiresAt, reason } = details as Readonly<Record<string, string>>;
  const access = `Your access from ${[ipv4Address, ipv6Address].filter(Boolean).join(' and ')}`;
  const shared = { kind: 'HOLDERS', holder: userId! } as const;
  if (eventType === 'SESSION_EXPIRING' && Date.parse(expiresAt!) > Date.now()) {
    return {
      ...shared,
      switchedBy: 'sessionExpiring',
      title: `${access} ends at ${timeOf(new Date(expiresAt!))}`,
      details: [`It is to ${namesOf(details['resources'])}. You can extend it, as far as your roles allow.`],
    };
  }
  const isStopped = eventType === 'SESSION_STOPPED' && result === 'SUCCESS' && reason === 'ADMIN';
  if (!isStopped || actorEmail === resourceName) return null;
  const by = actorEmail === null ? 'Drawbridge' : plainLine(actorEmail, MAX_REASON_LENGTH);
  return { ...shared, switchedBy: 'sessionStopped', title: `${access} was ended by ${by}`, details: [] };
}

/** What administrators are told with the next collected mail. */
function collected(record: ToldRecord): Said | null {
  const { eventType, actorType, errorMessage, details } = record;
  // whoever asks for a check sees its outcome
  if (actorType !== 'SYSTEM' && !TOLD_OF_OTHERS.has(eventType)) return null;
  const found = COLLECTED[eventType]?.(nameOf(record.resourceName), record.result === 'FAILURE');
  if (!found || (eventType === 'OIDC_EXCHANGE_REFUSED' && record.resourceId === null)) return null;
  const [switchedBy, title] = found;
  const { expiresAt } = details as Readonly<Record<string, string>>;
  return {
    kind: 'COLLECTED',
    holder: null,
    switchedBy,
    title,
    details: [
      ...(errorMessage === null ? [] : [reasonOf(errorMessage)]),
      ...(eventType === 'API_KEY_EXPIRING' ? [`It ends at ${timeOf(new Date(expiresAt!))}.`] : []),
    ],
    onceADay: eventType === 'OIDC_EXCHANGE_REFUSED',
  };
}

const TOLD_OF_OTHERS: ReadonlySet<string> = new Set(['AGENT_DUPLICATED', 'OIDC_EXCHANGE_REFUSED']);

type Titled = (name: string, failed: boolean) => readonly [NoticeSwitch | null, string] | null;

const COLLECTED: Readonly<Partial<Record<ToldRecord['eventType'], Titled>>> = {
  WEBHOOK_DISABLED: (name) => [null, `A webhook was disabled: ${name}`],
  CREDENTIAL_VERIFIED: (name, failed) => (failed ? [null, `The credential ${name} is refused`] : null),
  AGENT_OFFLINE: (name) => ['agentAway', `The agent of ${name} is away`],
  AGENT_DUPLICATED: (name) => ['agentAway', `Two agents call themselves ${name}`],
  OIDC_EXCHANGE_REFUSED: (name) => ['trustRefused', `A CI job was refused by the trust ${name}`],
  API_KEY_EXPIRING: (name) => ['keyExpiring', `The API key ${name} ends soon`],
  RESOURCE_VERIFIED: (name, failed) => [
    'resourceHealth',
    `The resource ${name} ${failed ? 'cannot be used' : 'can be used again'}`,
  ],
  RESOURCE_RECONCILED: (name, failed) => [
    'resourceHealth',
    failed ? `The rules of ${name} need you` : `The rules of ${name} are in order again`,
  ],
};

function pathOf({ resourceType, resourceId }: ToldRecord): string {
  if (resourceType === 'SESSION') return `/sessions/${resourceId}`;
  return resourceType === 'RESOURCE' ? `/resources/${resourceId}` : `/audit?resourceId=${resourceId}`;
}

/** `2026-01-05 09:30 UTC` */
export const timeOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const nameOf = (name: string | null): string => (name === null ? 'something' : plainName(name));

const namesOf = (resources: unknown): string =>
  (resources as readonly { name: string }[]).map(({ name }) => plainName(name)).join(', ');

const reasonOf = (message: string | null): string =>
  message === null ? 'the reason is not known' : plainLine(message, MAX_REASON_LENGTH);
