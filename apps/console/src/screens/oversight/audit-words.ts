import type { Schemas } from '../../api';
import { codeText } from './cells';

type EventType = Schemas['AuditEventType'];

/** What the actor did, before the name of the object. */
const VERBS: Readonly<Record<EventType, string>> = {
  ORGANIZATION_REGISTERED: 'registered the organization',
  ORGANIZATION_UPDATED: 'changed the organization',
  ORGANIZATION_SETTINGS_UPDATE: 'changed the policy of',
  ORGANIZATION_SUSPENDED: 'suspended the organization',
  ORGANIZATION_REACTIVATED: 'reactivated the organization',
  ORGANIZATION_DELETED: 'deleted the organization',
  ORGANIZATION_CLOSED: 'closed the deleted organization',
  USER_LOGIN: 'signed in as',
  USER_LOGOUT: 'signed out as',
  USER_LOCKED_OUT: 'locked the sign-in of',
  SIGN_IN_ENDED: 'ended a sign-in of',
  TOKEN_REUSED: 'saw a token used twice and ended the sign-in of',
  PASSWORD_CHANGED: 'changed the password of',
  PASSWORD_RESET_REQUESTED: 'asked for a new password for',
  PASSWORD_RESET: 'set a new password for',
  INVITATION_SENT: 'sent an invitation to',
  INVITATION_ACCEPTED: 'accepted the invitation of',
  MFA_ENABLED: 'set up the second factor of',
  MFA_DISABLED: 'turned off the second factor of',
  MFA_RESET: 'reset the second factor of',
  MFA_RECOVERY_CODES_REGENERATED: 'made new recovery codes for',
  USER_CREATED: 'added the user',
  USER_UPDATED: 'changed the user',
  USER_DELETED: 'deleted the user',
  PLATFORM_ROLE_GRANTED: 'granted a platform role to',
  CREDENTIAL_CREATED: 'added the credential',
  CREDENTIAL_UPDATED: 'changed the credential',
  CREDENTIAL_DELETED: 'deleted the credential',
  CREDENTIAL_VERIFIED: 'verified the credential',
  IDENTITY_TOKEN_SIGNED: 'signed an identity token for',
  RESOURCE_CREATED: 'added the resource',
  RESOURCE_UPDATED: 'changed the resource',
  RESOURCE_DELETED: 'deleted the resource',
  RESOURCE_VERIFIED: 'verified the resource',
  ROLE_CREATED: 'added the role',
  ROLE_UPDATED: 'changed the role',
  ROLE_DELETED: 'deleted the role',
  ROLE_RESOURCE_ASSIGNED: 'gave a resource to the role',
  ROLE_RESOURCE_UNASSIGNED: 'took a resource from the role',
  ROLE_USER_ASSIGNED: 'gave a user the role',
  ROLE_USER_UNASSIGNED: 'took a user out of the role',
  STATIC_IP_RULE_CREATED: 'added the static IP rule',
  STATIC_IP_RULE_UPDATED: 'changed the static IP rule',
  STATIC_IP_RULE_DELETED: 'deleted the static IP rule',
  STATIC_IP_RULE_APPLIED: 'opened the static IP rule',
  STATIC_IP_RULE_FAILED: 'could not open the static IP rule',
  API_KEY_CREATED: 'made the API key',
  API_KEY_REVOKED: 'revoked the API key',
  API_KEY_BOUND: 'bound an API key to',
  OIDC_TRUST_CREATED: 'added the trust',
  OIDC_TRUST_UPDATED: 'changed the trust',
  OIDC_TRUST_DELETED: 'deleted the trust',
  OIDC_TOKEN_EXCHANGED: 'signed a job in with the trust',
  OIDC_EXCHANGE_REFUSED: 'refused a job',
  OIDC_TOKEN_EXPLAINED: 'compared a token with the trust',
  BILLING_DETAILS_UPDATED: 'changed the billing details of',
  SUBSCRIPTION_CREATED: 'subscribed to',
  SUBSCRIPTION_ACTIVATED: 'started the subscription',
  SUBSCRIPTION_CANCELLED: 'cancelled the subscription',
  SUBSCRIPTION_PAST_DUE: 'saw an unpaid subscription',
  SUBSCRIPTION_EXPIRED: 'ended the subscription',
  PAYMENT_SUCCEEDED: 'received a payment',
  PAYMENT_FAILED: 'could not collect a payment',
  SESSION_STARTED: 'started a session of',
  SESSION_EXTENDED: 'extended a session of',
  SESSION_STOPPED: 'stopped a session of',
  SESSION_ACTIVATED: 'opened a session of',
  SESSION_EXPIRED: 'ended a session of',
  SESSION_FAILED: 'could not keep open a session of',
  SESSION_CANCELLED: 'closed a stopped session of',
  RULE_REVOCATION_OVERDUE: 'could not close a rule in time on',
  RULE_ORPHAN_REMOVED: 'removed a rule without a holder from',
  RESOURCE_RECONCILED: 'compared the rules of',
  RESOURCE_ABANDONED: 'gave up the rules of',
  RESOURCE_GUARD_CONFIRMED: 'confirmed the guard of',
  AGENT_CONNECTED: 'connected the agent',
  AGENT_OFFLINE: 'lost the agent',
  AGENT_DUPLICATED: 'saw a second agent of the name',
  AGENT_RELEASED: 'released the agent',
  AGENT_GUARD_CHANGED: 'saw another guard at the agent',
};

export const isEventType = (code: string): code is EventType => Object.hasOwn(VERBS, code);

/** Every event that the API records; a missing one is an error of the types. */
export const EVENT_CHOICES = Object.keys(VERBS)
  .filter(isEventType)
  .map((event) => [event, codeText(event)] as const)
  .sort(([, one], [, other]) => one.localeCompare(other));

const ACTORS: Readonly<Record<Schemas['AuditRecordDto']['actorType'], string>> = {
  USER: 'Somebody',
  API_KEY: 'An API key',
  SYSTEM: 'Drawbridge',
  AGENT: 'An agent',
  SESSION: 'A job',
};

/** What somebody does to the own account needs no object: "signed in", "stopped a session". */
const OWN = / (as|of)$/;

/** Who did what to which object. */
export function sentenceOf({ actorType, actorEmail, eventType, resourceName }: Schemas['AuditRecordDto']): {
  actor: string;
  verb: string;
  object: string | null;
} {
  const verb = VERBS[eventType];
  const isOwn = actorEmail !== null && actorEmail === resourceName && OWN.test(verb);
  return {
    actor: actorEmail ?? ACTORS[actorType],
    verb: isOwn ? verb.replace(OWN, '') : verb,
    object: isOwn ? null : resourceName,
  };
}

/** Details of a record as lines to read. */
export const detailsOf = (details: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...details, ...(details['changed'] as object | undefined), changed: undefined })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [codeText(name.replaceAll(/[A-Z]/g, '_$&')), text(value)]),
  );

function text(value: unknown): string {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'none';
  if (Array.isArray(value)) return value.map(text).join(', ');
  if (typeof value !== 'object') return `${value as string | number | boolean}`;
  if ('from' in value && 'to' in value) return `${text(value.from)} → ${text(value.to)}`;
  if ('name' in value) return text(value.name);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${text(inner)}`)
    .join(', ');
}
