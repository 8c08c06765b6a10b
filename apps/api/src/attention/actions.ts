import type { AttentionKind } from '#tenant-store';

/** What to do about each kind, for the console and for programs alike. */
export const ACTIONS: Readonly<Record<AttentionKind, string>> = {
  RULE_OVERDUE:
    'Access has ended and its rule is still there: see the rules of the resource, and remove it at the provider if this cannot.',
  RESOURCE_REFUSED: 'Do what the message names, then verify the resource.',
  TARGET_FULL: 'End what is not needed there, or raise its limit: what does not fit is refused.',
  RULE_REFUSED: 'Do what the message names, then save the rule again.',
  CREDENTIAL_FAILING: 'Replace the credential, or give it its rights again.',
  AGENT_AWAY: 'Start the agent on the host, or see why the host cannot reach this service.',
  AGENT_CONTESTED: 'Two agents use one name: give one of them another name, or stop it.',
  IDENTITY_PROVIDER_FAILING: 'Do what the message names, then test the provider.',
  WEBHOOK_FAILING: 'See its deliveries, repair the receiver, and send a test.',
  LOCKED_DOWN: 'Lift it when the reason is gone.',
  ORGANIZATION_LOCKED_DOWN: 'Lift it when the reason is gone.',
  BREAK_GLASS_UNREVIEWED: 'Review the access that was opened without approval.',
  IDENTITY_WAITING: 'Link each to a user, or leave it: it goes after 30 days.',
  KEY_ENDING: 'Create its successor before it ends.',
  STATIC_RULE_ENDING: 'Give it a later end if it is still needed.',
  REVIEW_DUE: 'Confirm or remove each of them under Reviews.',
  ONE_ADMINISTRATOR: 'Make another user an administrator: a lost account could lock all of you out.',
};
