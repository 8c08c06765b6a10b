import { type PreparedStatement, type Tx, prepared } from '#entities';

const UNSETTLED: PreparedStatement = {
  name: 'unsettled-sessions',
  text: `SELECT id FROM sessions WHERE id = ANY ($1::uuid[]) AND status IN ('PENDING', 'EXPIRING')`,
};

/**
 * Which of these sessions a worker has not settled yet. It serves all organizations with one query for all waiting
 * requests; each of them has been authorized to read its session before.
 */
export async function unsettledSessions(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await prepared<{ id: string }>(tx, UNSETTLED, [ids]);
  return rows.map(({ id }) => id);
}
