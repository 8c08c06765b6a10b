import { RESOURCE_IP_MOVES, SESSION_MOVES } from '#rules';
import type { Evidence } from './evidence';
import type { Oracle } from './oracle';

export const legalStates: Oracle = {
  id: 'O7',
  guarantee: 'sessions and ResourceIps only make the transitions that libs/rules allows',
  violations(evidence: Evidence): string[] {
    return evidence.moves.flatMap((move) => {
      if (move.seeded || move.now === null) return [];
      if (move.kind === 'session' && move.was !== move.now && !isLegal(SESSION_MOVES, move.was, move.now))
        return [`session ${move.sessionId} went from ${move.was ?? 'nothing'} to ${move.now}`];
      if (
        move.kind === 'resource_ip' &&
        move.was !== move.now &&
        !isLegal(RESOURCE_IP_MOVES, move.was, move.now)
      )
        return [`address ${move.ipId} went from ${move.was ?? 'nothing'} to ${move.now}`];
      return [];
    });
  },
};

/** A new row must be PENDING. */
function isLegal<Status extends string>(
  moves: Readonly<Record<Status, readonly Status[]>>,
  was: Status | null,
  now: Status,
): boolean {
  return was === null ? now === 'PENDING' : moves[was].includes(now);
}
