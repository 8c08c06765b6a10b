import type { Schemas } from '../api';
import { aboutText, localTime, type Tone } from '../ui';

export type Session = Schemas['SessionDto'];
type ResourceIp = Schemas['ResourceIpDto'];
type Status = Session['status'];

/** The status of a session in a word, in the order of its life. */
export const STATUS: Readonly<Record<Status, readonly [text: string, tone: Tone]>> = {
  PENDING: ['Opening', 'busy'],
  ACTIVE: ['Open', 'good'],
  PARTIAL: ['Open in part', 'warn'],
  FAILED: ['Refused', 'bad'],
  EXPIRING: ['Closing', 'busy'],
  EXPIRED: ['Ended', 'neutral'],
  CANCELLED: ['Stopped', 'neutral'],
};

/** These hold access, or are about to. */
export const LIVE = ['PENDING', 'ACTIVE', 'PARTIAL'] as const satisfies readonly Status[];

export const isLive = ({ status }: Session): boolean => (LIVE as readonly Status[]).includes(status);
export const isUnsettled = ({ status }: Session): boolean => status === 'PENDING' || status === 'EXPIRING';

/** When it ends unless something happens: a lease ends it earlier. */
export const endOf = ({ leaseUntil, expiresAt }: Session): string =>
  leaseUntil !== null && leaseUntil < expiresAt ? leaseUntil : expiresAt;

export const addressesOf = ({ ipv4Address, ipv6Address }: Session): readonly string[] =>
  [ipv4Address, ipv6Address].filter((address) => address !== null);

/** The headline of a stopped session, by its cause. Sessions that their holder stopped have the one of their status. */
const STOPPED_BY: Readonly<Partial<Record<NonNullable<Session['endedCause']>, string>>> = {
  SESSION_STOPPED_BY_ADMIN: 'Stopped by an administrator',
  USER_OFFBOARDED: 'Stopped with the user’s account',
  ROLE_LOST: 'Stopped with a role that the identity provider no longer gives',
  REFUSED_BY_ISSUER: 'Stopped by the identity provider, which refuses the sign-in',
  NOT_SIGNED_IN_AGAIN: 'Stopped as the user has not signed in again with the identity provider',
  LOCKED_DOWN: 'Stopped by a lockdown',
  ABANDONED: 'Stopped with a resource that was given up',
};

/** The state of a session in a sentence. */
export function headlineOf(session: Session): string {
  const [text] = STATUS[session.status];
  if (session.status === 'PENDING' && session.opensInSeconds)
    return `${text}, in ${aboutText(session.opensInSeconds)}…`;
  if (session.status === 'PENDING' || session.status === 'EXPIRING') return `${text}…`;
  if (isLive(session)) return `${text} until ${localTime(endOf(session))}`;
  const how = (session.endedCause && STOPPED_BY[session.endedCause]) ?? text;
  return session.endedAt === null ? how : `${how} at ${localTime(session.endedAt)}`;
}

/** What became of one address on one resource. */
export interface Outcome {
  readonly text: string;
  readonly tone: Tone;
  /** the provider's words, or what else lets the address in */
  readonly detail: string | null;
}

export function outcomeOf(ip: ResourceIp, session: Session, isShort: boolean): Outcome {
  const detail = ip.errorMessage;
  switch (ip.status) {
    case 'PENDING':
      return { text: 'opening', tone: 'busy', detail };
    case 'APPLIED':
      if (ip.effectiveBy !== null && Date.parse(ip.effectiveBy) > Date.now()) {
        const until = `The rule is written; the provider may need until ${localTime(ip.effectiveBy)} to act on it`;
        return {
          text: isShort ? 'open soon' : `open soon, until ${localTime(endOf(session))}`,
          tone: 'good',
          detail: until,
        };
      }
      return { text: isShort ? 'open' : `open until ${localTime(endOf(session))}`, tone: 'good', detail };
    case 'REMOVING':
      return { text: 'closing', tone: 'busy', detail };
    case 'FAILED':
      return { text: ip.appliedAt === null ? 'refused' : 'not seen to be closed', tone: 'bad', detail };
    case 'REMOVED':
      return ip.stillAllowedBy === null
        ? { text: 'closed', tone: 'neutral', detail }
        : { text: 'closed here', tone: 'warn', detail: `Still let in by ${ip.stillAllowedBy}` };
  }
}

/** A resource of a session, with its addresses. */
export interface SessionResource {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string | null;
  readonly ips: readonly ResourceIp[];
  readonly skipped: readonly Schemas['SkippedIpDto'][];
}

/** By name, as they were asked for. */
export function resourcesOf({ resourceIps, skippedIps = [] }: Session): readonly SessionResource[] {
  const ids = new Set([...resourceIps, ...skippedIps].map(({ resourceId }) => resourceId));
  const resources = [...ids].map((id) => {
    const ips = resourceIps.filter(({ resourceId }) => resourceId === id);
    const skipped = skippedIps.filter(({ resourceId }) => resourceId === id);
    const name = (ips[0] ?? skipped[0])?.resourceName ?? id;
    return { id, name, endpoint: ips[0]?.endpoint ?? null, ips, skipped };
  });
  return resources.toSorted((a, b) => a.name.localeCompare(b.name));
}
