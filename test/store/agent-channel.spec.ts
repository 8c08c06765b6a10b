import { type AgentState, EngineStore, release } from '#engine-store';
import type { Tx } from '#entities';
import { storedHost, type StoredHost } from '../builders/resources/stored-host';
import { type LedgerOrganization, LedgerRows } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

interface Place {
  readonly targetId: string;
  readonly resourceId: string;
}

describe('The state that an agent is sent', () => {
  const database = ownDatabase(6);
  const ledger = new LedgerRows(database);
  const { agents, agentStates: states } = new EngineStore();
  let host: StoredHost;
  let owner: LedgerOrganization;
  let place: Place;

  beforeEach(async () => {
    host = await storedHost(database);
    const [row] = await ledger.rows<{ owner: LedgerOrganization; place: Place }>(
      `SELECT json_build_object('organizationId', $1::uuid, 'userId', u.id) AS owner,
         json_build_object('targetId', r.target_id, 'resourceId', r.id) AS place
       FROM resources r JOIN users u USING (organization_id) WHERE organization_id = $1`,
      [host.organization],
    );
    ({ owner, place } = row!);
  });

  const offered = (): Promise<AgentState> =>
    database.transaction(async (tx) => {
      const admission = await agents.admit(tx, host.organization, host.visit);
      if (admission.kind !== 'serving') throw new Error('The only agent was not let in');
      return states.offer(tx, host.organization, admission.agent);
    });
  const addressesOf = ({ rules }: AgentState): string[] => rules.map(({ ipAddress }) => ipAddress);

  /** A session whose rule no agent was sent. */
  async function started(address: string): Promise<{ sessionId: string; ruleId: string }> {
    const ruleId = await ledger.rule(place.targetId, [], { address: `${address}/32`, state: 'absent' });
    await ledger.rows('UPDATE rules SET due_at = now(), cause = NULL WHERE id = $1', [ruleId]);
    const sessionId = await ledger.session(owner);
    await ledger.holder(ruleId, owner, place.resourceId, sessionId);
    return { sessionId, ruleId };
  }
  const stop = (tx: Tx, sessionId: string): Promise<unknown> =>
    release(tx, 'SESSION_STOPPED', { sessionIds: [sessionId] });

  it('has no rule that is released while it is read, which is not recorded as sent either', async () => {
    const { sessionId, ruleId } = await started('203.0.113.7');
    let telling: ReturnType<typeof offered> | undefined;
    await database.transaction(async (tx) => {
      await stop(tx, sessionId);
      telling = offered();
      await untilBlocked(database);
    });
    expect(addressesOf((await telling)!)).not.toContain('203.0.113.7');
    expect(await ledger.rows('SELECT state FROM rules WHERE id = $1', [ruleId])).toEqual([
      { state: 'absent' },
    ]);
  });

  it('has the same version while nothing changes, and a new one when it recurs', async () => {
    const empty = await offered();
    expect((await offered()).version).toBe(empty.version);
    const { sessionId } = await started('203.0.113.8');
    const one = await offered();
    expect(addressesOf(one)).toContain('203.0.113.8');
    await database.transaction((tx) => stop(tx, sessionId));
    const again = await offered();
    expect(addressesOf(again)).toEqual(addressesOf(empty));
    expect(new Set([empty, one, again].map(({ version }) => version)).size).toBe(3);
  });

  it('is for one of several installations that come while the agent is away', async () => {
    await ledger.rows(`UPDATE agents SET seen_at = now() - interval '1 hour' WHERE id = $1`, [host.agentId]);
    const admissions = ['a', 'b', 'c'].map((instance) =>
      database.transaction((tx) => agents.admit(tx, host.organization, { ...host.visit, instance })),
    );
    const kinds = (await Promise.all(admissions)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['rival', 'rival', 'serving']);
  });
});
