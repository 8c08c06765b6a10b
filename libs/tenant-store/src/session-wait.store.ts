import { type PreparedStatement, type Tx, prepared } from '#entities';

const MOVING: PreparedStatement = {
  name: 'moving-sessions',
  text: `SELECT id FROM sessions WHERE id = ANY ($1::uuid[]) AND status IN ('PENDING', 'EXPIRING')`,
};

/**
 * Which of these sessions a worker still has to do with. It serves every organization at once: one look for everybody
 * who waits, each of whom has proved before that the session is theirs to read.
 */
export async function movingSessions(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await prepared<{ id: string }>(tx, MOVING, [ids]);
  return rows.map(({ id }) => id);
}
