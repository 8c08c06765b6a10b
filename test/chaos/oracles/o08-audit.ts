import type { AuditedAction, Evidence, SessionMove } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

export const audited: Oracle = {
  id: 'O8',
  promise: 'each transition of a session has its one record, and the chain of records holds',
  violations(evidence: Evidence, history: History): string[] {
    const told = new Map<string, string[]>();
    for (const record of evidence.audit) {
      const id = record.resourceId ?? '';
      told.set(id, [...(told.get(id) ?? []), ...auditedActionOf(record)]);
    }
    const missing = [...history.sessions].flatMap(([id, moves]) => {
      const expected = moves.filter((move) => !move.seeded).flatMap(recordOf);
      return differences(expected, told.get(id) ?? []).map((words) => `session ${id}: ${words}`);
    });
    return [...missing, ...evidence.brokenChains];
  },
};

/** The record a move leaves; an expiry is told when the session is out. */
function recordOf(move: SessionMove): string[] {
  if (move.now === move.was || move.now === null) return [];
  switch (move.now) {
    case 'PENDING':
      return ['SESSION_STARTED'];
    case 'ACTIVE':
      return ['SESSION_ACTIVATED'];
    case 'PARTIAL':
      return [move.was === 'PENDING' ? 'SESSION_ACTIVATED' : 'SESSION_FAILED'];
    case 'FAILED':
      return ['SESSION_FAILED'];
    case 'EXPIRING':
      return move.endedReason === 'EXPIRED' ? [] : ['SESSION_STOPPED'];
    case 'EXPIRED':
      return ['SESSION_EXPIRED'];
    case 'CANCELLED':
      return ['SESSION_CANCELLED'];
  }
}

const AUDITED_ACTIONS = /^SESSION_(STARTED|STOPPED|ACTIVATED|FAILED|EXPIRED|CANCELLED)$/;

/** What was refused is a record, too, and no transition. */
const auditedActionOf = ({ eventType, result }: AuditedAction): string[] =>
  AUDITED_ACTIONS.test(eventType) && (result === 'SUCCESS' || eventType === 'SESSION_FAILED')
    ? [eventType]
    : [];

function differences(expected: readonly string[], told: readonly string[]): string[] {
  return [...new Set([...expected, ...told])].flatMap((deed) => {
    const [moves, records] = [expected, told].map((list) => list.filter((one) => one === deed).length);
    return moves === records ? [] : [`${moves} moves and ${records} records of ${deed}`];
  });
}
