import { deadline } from './bounds';
import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import { sessionEnd, type History } from './history';

const FINAL = ['FAILED', 'EXPIRED', 'CANCELLED'];

export const noLoss: Oracle = {
  id: 'O2',
  promise: 'every session that was answered is decided, and ends when its time is over',
  violations(evidence: Evidence, history: History): string[] {
    const vanished = evidence.acknowledged
      .filter((id) => !history.sessions.has(id))
      .map((id) => `session ${id} was answered and is not in the database`);
    const stuck = [...history.sessions].flatMap(([id, moves]) => {
      const last = moves.at(-1)!;
      if (last.now === null || FINAL.includes(last.now)) return [];
      const since = moves.findLast((move) => move.was !== move.now)?.at ?? last.at;
      if (last.now === 'PENDING' || last.now === 'EXPIRING') {
        const waits = evidence.atRest || deadline(since, evidence.faults) < evidence.at;
        return waits ? [`session ${id} is still ${last.now}`] : [];
      }
      return deadline(sessionEnd(moves), evidence.faults) < evidence.at
        ? [`session ${id} is ${last.now} though its time is over`]
        : [];
    });
    return [...vanished, ...stuck];
  },
};
