import { CHOICES } from '#client/choices';
import { sentence, wordsOf } from './words';

/** The events of the audit trail, to choose from: each with its words, in their order. */
export const EVENTS = CHOICES.AuditEventType.map(
  (event) => [event, sentence(wordsOf(event))] as const,
).toSorted(([, one], [, other]) => one.localeCompare(other));
