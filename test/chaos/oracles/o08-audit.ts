import type { AuditedAction, Evidence, SessionMove } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

export const audited: Oracle = {
  id: 'O8',
  guarantee: 'each transition of a session has exactly one audit record, and the audit chain is valid',
  violations(evidence: Evidence, history: History): string[] {
    const recorded = new Map<string, string[]>();
    for (const record of evidence.audit) {
      const id = record.resourceId ?? '';
      recorded.set(id, [...(recorded.get(id) ?? []), ...auditedActionOf(record)]);
    }
    const missing = [...history.sessions].flatMap(([id, moves]) => {
      const expected = moves.filter((move) => !move.seeded).flatMap(recordOf);
      return differences(expected, recorded.get(id) ?? []).map((message) => `session ${id}: ${message}`);
    });
    return [...missing, ...evidence.brokenChains];
  },
};

/** The audit record of a transition; an expiry is recorded with EXPIRED. */
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

/** A denied action has a record too, but is not a transition. */
const auditedActionOf = ({ eventType, result }: AuditedAction): string[] =>
  AUDITED_ACTIONS.test(eventType) && (result === 'SUCCESS' || eventType === 'SESSION_FAILED')
    ? [eventType]
    : [];

function differences(expected: readonly string[], recorded: readonly string[]): string[] {
  return [...new Set([...expected, ...recorded])].flatMap((action) => {
    const [moves, records] = [expected, recorded].map((list) => list.filter((one) => one === action).length);
    return moves === records ? [] : [`${moves} transitions and ${records} records of ${action}`];
  });
}
