import { deadline } from './bounds';
import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import { sessionEnd, type History } from './history';

const FINAL = ['FAILED', 'EXPIRED', 'CANCELLED'];

export const noLoss: Oracle = {
  id: 'O2',
  guarantee: 'every acknowledged session is decided, and ends when it expires',
  violations(evidence: Evidence, history: History): string[] {
    const { patienceMs = 0 } = evidence;
    const vanished = evidence.acknowledged
      .filter((id) => !history.sessions.has(id))
      .map((id) => `session ${id} was acknowledged and is not in the database`);
    const stuck = [...history.sessions].flatMap(([id, moves]) => {
      const last = moves.at(-1)!;
      if (last.now === null || FINAL.includes(last.now)) return [];
      const since = moves.findLast((move) => move.was !== move.now)?.at ?? last.at;
      if (last.now === 'PENDING' || last.now === 'EXPIRING') {
        const waits = evidence.atRest || deadline(since + patienceMs, evidence.faults) < evidence.at;
        return waits ? [`session ${id} is still ${last.now}`] : [];
      }
      return deadline(sessionEnd(moves) + patienceMs, evidence.faults) < evidence.at
        ? [`session ${id} is ${last.now} although it has expired`]
        : [];
    });
    return [...vanished, ...stuck];
  },
};
