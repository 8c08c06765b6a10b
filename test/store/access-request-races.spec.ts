import { type OrganizationId } from '#rules';
import { rows, type Tx } from '#entities';
import { AccessRequestStore, type Decision } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';
import { RequestRaces } from '../builders/requests/request-races';

/** 10,000 take about five minutes. */
const RACES = Number(process.env['RACES'] ?? 100);
const MS_PER_RACE = 200;
const MAX_PLANTED_RACES = 400;

/** Decides by what it has read before: what happens in between is not seen. */
class ReadsThenWrites extends AccessRequestStore {
  override async decide(
    tx: Tx,
    organization: OrganizationId,
    as: Parameters<AccessRequestStore['decide']>[2],
    { id, userId, signInId, note, actor }: Decision,
  ): Promise<boolean> {
    if (as !== 'approve') return super.decide(tx, organization, as, { id, userId, signInId, note, actor });
    const request = await this.find(tx, organization, id, userId);
    if (!request?.mayDecide) return false;
    const decided = await rows(
      tx,
      `INSERT INTO access_request_decisions (organization_id, request_id, user_id, decision) VALUES ($1, $2, $3, 'APPROVED')
       ON CONFLICT DO NOTHING RETURNING 1`,
      [organization, id, userId],
    );
    if (decided.length === 0) return false;
    const approvals = request.approvals + 1;
    const isLast = approvals >= request.approvalsNeeded;
    await tx.query(
      `UPDATE access_requests SET approvals = $2, status = $3, due_at = now() + interval '1 hour', session_id = NULL, ended_at = NULL
       WHERE id = $1`,
      [id, approvals, isLast ? 'APPROVED' : 'WAITING'],
    );
    return true;
  }
}

describe('Races of approve, deny, cancel, start, demotion and deactivation', () => {
  const database = ownDatabase(12);

  const deadlocks = async (): Promise<number> => {
    const [counted] = await database.autocommit.query<{ deadlocks: number }[]>(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    return counted!.deadlocks;
  };

  it(
    `have one outcome each (${RACES} races)`,
    async () => {
      const races = await new RequestRaces(database).prepare();
      for (let race = 0; race < RACES; race += 1) expect(await races.race()).toEqual([]);
      expect(await deadlocks()).toBe(0);
    },
    400_000 + RACES * MS_PER_RACE,
  );

  it(
    'find an approval that reads, then writes',
    async () => {
      const races = await new RequestRaces(database, new ReadsThenWrites()).prepare();
      const found = new Set<string>();
      for (let race = 0; race < MAX_PLANTED_RACES && found.size < 3; race += 1)
        for (const wrong of await races.race()) found.add(wrong.split(': ')[1]!);
      expect(found.size).toBeGreaterThanOrEqual(3);
    },
    MAX_PLANTED_RACES * MS_PER_RACE,
  );
});
