import type { StartedSession } from '#client';
import { timeText } from '../terminal/times';

/** Where a provider acts later on what is written: until when, once for each resource. */
export function effectNotes(sessions: readonly Pick<StartedSession, 'session'>[]): string[] {
  const notes = sessions.flatMap(({ session }) =>
    session.resourceIps.flatMap(({ resourceName, effectiveBy }) =>
      effectiveBy === null
        ? []
        : [
            `${resourceName}: the rule is written; the provider may need until ${timeText(effectiveBy)} to act on it`,
          ],
    ),
  );
  return [...new Set(notes)];
}
