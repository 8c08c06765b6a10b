import { CHOICES } from '#client/choices';
import { AUDIT_EVENTS } from './event-texts';

/** The events of the audit trail, to choose from: each with its text, in their order. */
export const EVENTS = CHOICES.AuditEventType.map((event) => [event, AUDIT_EVENTS[event]] as const).toSorted(
  ([, one], [, other]) => one.localeCompare(other),
);
