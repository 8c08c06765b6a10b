import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

export const onePerKey: Oracle = {
  id: 'O11',
  guarantee: 'one Idempotency-Key starts at most one session',
  violations(evidence: Evidence, history: History): string[] {
    const sessions = new Map<string, Set<string>>();
    for (const { key, sessionId } of [...evidence.storedKeys, ...evidence.keyedAnswers])
      sessions.set(key, (sessions.get(key) ?? new Set()).add(sessionId));
    const several = [...sessions]
      .filter(([, ids]) => ids.size > 1)
      .map(([key, ids]) => `Idempotency-Key ${key} has the sessions ${[...ids].join(' and ')}`);
    const keyed = new Set(evidence.keyedAddresses);
    const starts = new Map<string, number>();
    for (const [first] of history.sessions.values())
      if (keyed.has(first!.address)) starts.set(first!.address, (starts.get(first!.address) ?? 0) + 1);
    const repeated = [...starts]
      .filter(([, count]) => count > 1)
      .map(([address, count]) => `${count} sessions were started for ${address}, requested with one key`);
    return [...several, ...repeated];
  },
};
