import type { NoticeCursorKind, NoticeSwitch } from '#entities';
import { plainLine, plainName } from '#mail';
import type { RemovalCause } from '#rules';
import type { FeedRecord } from '#tenant-store';
import { screenOf } from '../screen-of';

const MAX_REASON_LENGTH = 300;

/** Something to tell people by mail. */
export interface Notice {
  readonly kind: NoticeCursorKind;
  /** with which people turn it off; null: they cannot */
  readonly switchedBy: NoticeSwitch | null;
  /** whom it concerns; null: administrators, or with a request no further person */
  readonly holder: string | null;
  /** the access request whose other deciders it concerns, too */
  readonly request?: string;
  readonly at: Date;
  /** what happened, in one line */
  readonly title: string;
  /** further lines */
  readonly details: readonly string[];
  /** of the console, where to look or act */
  readonly path: string;
  /** it repeats itself: not reported when the same was recorded within a day before */
  readonly onceADay?: boolean;
}

/** What a record tells; null: nothing. */
export function noticeOf(record: FeedRecord): Notice | null {
  const content =
    overdue(record) ??
    emergency(record) ??
    ofSession(record) ??
    ofSignIn(record) ??
    ofRequest(record) ??
    ofIdentity(record) ??
    collected(record);
  return content && { ...USUAL, at: new Date(record.timestamp), path: screenOf(record), ...content };
}

const USUAL = { switchedBy: null, holder: null, details: [] } as const;

/** What a kind of notice has of its own. */
type Body = Omit<Notice, 'at' | 'path' | keyof typeof USUAL> & Partial<Notice>;

function overdue({ eventType, resourceName, errorMessage, details }: FeedRecord): Body | null {
  if (eventType !== 'RULE_REVOCATION_OVERDUE') return null;
  const { target, ipAddress, protocol, ports, providerRuleId, unwantedSince } = details as Readonly<
    Record<string, string>
  >;
  const rule = [providerRuleId, target].filter(Boolean).map((id) => plainLine(id!, MAX_REASON_LENGTH));
  return {
    kind: 'URGENT',
    title: `${ipAddress} is still open on ${nameOf(resourceName)}`,
    details: [
      `It should be closed since ${timeOf(new Date(unwantedSince!))} (${protocol} ${ports}).`,
      `The last attempt failed: ${reasonOf(errorMessage)}`,
      `Drawbridge keeps trying. If it lasts, remove the rule by hand: ${rule.join(' in ')}`,
    ],
  };
}

/** What administrators are notified of at once: access without approval, and lockdowns. */
function emergency({ eventType, result, actorEmail, resourceName, details }: FeedRecord): Body | null {
  const titled = EMERGENCIES[eventType];
  if (titled === undefined || result === 'FAILURE') return null;
  const isGlass = eventType === 'BREAK_GLASS_STARTED';
  return {
    kind: 'URGENT',
    title: titled(whoOf(actorEmail), resourceName),
    details: [
      ...wantedOf(details),
      ...(isGlass ? ['It is open for an hour at most. Another administrator has to review it.'] : []),
    ],
  };
}

const EMERGENCIES: Readonly<
  Partial<Record<FeedRecord['eventType'], (by: string, of: string | null) => string>>
> = {
  BREAK_GLASS_STARTED: (by) => `${by} opened access without approval`,
  ORGANIZATION_LOCKED_DOWN: (by, of) => `${nameOf(of)} is locked down by ${by}`,
  ORGANIZATION_LOCKDOWN_LIFTED: (by, of) => `${by} lifted the lockdown of ${nameOf(of)}`,
  USER_LOCKED_DOWN: (by, of) => `${whoOf(of)} is locked down by ${by}`,
  USER_LOCKDOWN_LIFTED: (by, of) => `${by} lifted the lockdown of ${whoOf(of)}`,
};

/** Those who may decide are notified of a request; the requester and the others among them, of its outcome. */
function ofRequest(record: FeedRecord): Body | null {
  const { eventType, result, actorEmail, resourceId, resourceName, details } = record;
  if (result === 'FAILURE') return null;
  const shared = { kind: 'HOLDERS', details: wantedOf(details) } as const;
  const of = whoOf(resourceName);
  if (eventType === 'ACCESS_REQUESTED')
    return { ...shared, request: resourceId!, title: `${of} asks for access: you may decide` };
  const holder = details['userId'] as string;
  if (eventType === 'ACCESS_REQUEST_EXPIRED')
    return { ...shared, holder, title: `The access request of ${of} has expired: not decided in time` };
  const outcome = OUTCOMES[eventType];
  if (outcome === undefined) return null;
  const title = `The access request of ${of} was ${outcome}: handled by ${whoOf(actorEmail)}`;
  const next = eventType === 'ACCESS_REQUEST_APPROVED' ? ['It is to be opened within an hour.'] : [];
  return { ...shared, details: [...shared.details, ...next], holder, request: resourceId!, title };
}

const OUTCOMES: Readonly<Partial<Record<FeedRecord['eventType'], string>>> = {
  ACCESS_REQUEST_APPROVED: 'approved',
  ACCESS_REQUEST_DENIED: 'denied',
};

const lineOf = (label: string, given: unknown): string[] =>
  typeof given === 'string' ? [`${label}: ${plainLine(given, MAX_REASON_LENGTH)}`] : [];

/** What is wanted or opened, from where, for how long, and why. */
function wantedOf(details: FeedRecord['details']): string[] {
  const { resources, ipv4Address, ipv6Address, durationHours, ticket, reason, note } = details;
  const from = [ipv4Address, ipv6Address].filter(Boolean).join(' and ');
  return [
    ...(Array.isArray(resources)
      ? [`To ${namesOf(resources)} from ${from}, for ${String(durationHours)} h`]
      : []),
    ...lineOf('Reason', reason),
    ...lineOf('Ticket', ticket),
    ...lineOf('Note', note),
  ];
}

/** What its holder is notified of: that it ends, unless that is over, and that another person has ended it. */
function ofSession({ eventType, result, actorEmail, resourceName, details }: FeedRecord): Body | null {
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
  const by = STOPPED_BY[details['cause'] as RemovalCause] ?? `by ${whoOf(actorEmail)}`;
  return { ...shared, switchedBy: 'sessionStopped', title: `${access} was ended ${by}` };
}

/** Whose access goes on without a company sign-in, for some time. */
function ofSignIn({ eventType, resourceId, details }: FeedRecord): Body | null {
  const { accessEndsAt, identityProvider } = details as Readonly<Record<string, string>>;
  if (eventType !== 'COMPANY_SIGN_IN_ENDED' || !accessEndsAt || Date.parse(accessEndsAt) <= Date.now())
    return null;
  return {
    kind: 'HOLDERS',
    switchedBy: 'sessionExpiring',
    holder: resourceId,
    title: `Sign in again with your company: your access and your API keys end at ${timeOf(new Date(accessEndsAt))}`,
    details: [
      `Your session at ${nameOf(identityProvider!)} is over. What is open, and your keys, go on until then.`,
    ],
  };
}

/** By whom no person did it. */
const STOPPED_BY: Readonly<Partial<Record<RemovalCause, string>>> = {
  ROLE_LOST: 'with a role that your identity provider no longer gives you',
  REFUSED_BY_ISSUER: 'as your identity provider refuses your sign-in',
  NOT_SIGNED_IN_AGAIN: 'as you have not signed in again with your identity provider',
};

/** The person whose account an administrator gives a way to sign in: others would not notice that a stranger uses it. */
function ofIdentity(record: FeedRecord): Body | null {
  const { eventType, result, actorType, actorEmail, resourceId, resourceName, details } = record;
  if (actorType === 'SYSTEM' || result === 'FAILURE') return null;
  if (eventType === 'PASSWORD_RESET_REQUESTED' && actorEmail !== resourceName)
    return {
      kind: 'HOLDERS',
      holder: resourceId,
      title: `${whoOf(actorEmail)} got a link with which a new password is set for your account`,
      details: ['If you did not ask for that, tell another administrator.'],
    };
  if (eventType !== 'IDENTITY_LINKED') return null;
  return {
    kind: 'HOLDERS',
    holder: details['userId'] as string,
    title: `${whoOf(actorEmail)} linked a sign-in by ${nameOf(resourceName)} to your account`,
    details: ['If you did not expect that, another administrator can unlink it.'],
  };
}

/** What administrators are notified of with the next collected mail. */
function collected(record: FeedRecord): Body | null {
  const { eventType, actorType, errorMessage, details } = record;
  // the user who asks for a check sees its outcome
  if (actorType !== 'SYSTEM' && !TOLD_OF_OTHERS.has(eventType)) return null;
  if (eventType === 'COMPANY_SIGN_IN_ENDED' && details['reason'] !== 'ANSWER_LOST') return null;
  const found = COLLECTED[eventType]?.(nameOf(record.resourceName), record.result === 'FAILURE');
  if (!found || (eventType === 'OIDC_EXCHANGE_REFUSED' && record.resourceId === null)) return null;
  const [switchedBy, title] = found;
  const { expiresAt } = details as Readonly<Record<string, string>>;
  return {
    kind: 'COLLECTED',
    switchedBy,
    title,
    details: [
      ...(errorMessage === null ? [] : [reasonOf(errorMessage)]),
      ...(eventType.endsWith('_EXPIRING') ? [`It ends at ${timeOf(new Date(expiresAt!))}.`] : []),
    ],
    onceADay: eventType === 'OIDC_EXCHANGE_REFUSED',
  };
}

const TOLD_OF_OTHERS: ReadonlySet<string> = new Set(['AGENT_DUPLICATED', 'OIDC_EXCHANGE_REFUSED']);

type Titled = (name: string, failed: boolean) => readonly [NoticeSwitch | null, string] | null;

const COLLECTED: Readonly<Partial<Record<FeedRecord['eventType'], Titled>>> = {
  WEBHOOK_DISABLED: (name) => [null, `A webhook was disabled: ${name}`],
  CREDENTIAL_VERIFIED: (name, failed) => (failed ? [null, `The credential ${name} is refused`] : null),
  AGENT_OFFLINE: (name) => ['agentAway', `The agent of ${name} is away`],
  AGENT_DUPLICATED: (name) => ['agentAway', `Two agents call themselves ${name}`],
  OIDC_EXCHANGE_REFUSED: (name) => ['trustRefused', `A CI job was refused by the trust ${name}`],
  COMPANY_SIGN_IN_ENDED: (name) => [
    null,
    `The company sign-in of ${name} ended, as an answer of the identity provider was lost: access and API keys go on`,
  ],
  API_KEY_EXPIRING: (name) => ['keyExpiring', `The API key ${name} ends soon`],
  STATIC_IP_RULE_EXPIRING: (name) => ['keyExpiring', `The static IP rule ${name} ends soon`],
  RESOURCE_VERIFIED: (name, failed) => [
    'resourceHealth',
    `The resource ${name} ${failed ? 'cannot be used' : 'can be used again'}`,
  ],
  RESOURCE_RECONCILED: (name, failed) => [
    'resourceHealth',
    failed ? `The rules of ${name} need you` : `The rules of ${name} are in order again`,
  ],
};

/** `2026-01-05 09:30 UTC` */
export const timeOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const nameOf = (name: string | null): string => (name === null ? 'something' : plainName(name));

const whoOf = (email: string | null): string =>
  email === null ? 'Drawbridge' : plainLine(email, MAX_REASON_LENGTH);

const namesOf = (resources: unknown): string =>
  (resources as readonly { name: string }[]).map(({ name }) => plainName(name)).join(', ');

const reasonOf = (message: string | null): string =>
  message === null ? 'the reason is not known' : plainLine(message, MAX_REASON_LENGTH);
