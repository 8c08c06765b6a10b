import { EngineStore } from '#engine-store';
import type { TargetRuleRow } from '#engine-store/port';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const AT = [new Date(0), new Date(0), new Date(0)];
const FIRST_PAGE = { page: 0, size: 100 };

describe('The rules of a target', () => {
  const { targetRules: store } = new EngineStore();
  const database = ownDatabase(2);
  const ledger = new LedgerRows(database);
  let own: LedgerOrganization;
  let other: LedgerOrganization;
  let targetId: string;

  beforeEach(async () => {
    [own, other] = [await ledger.organization(), await ledger.organization()];
    targetId = await ledger.target();
    await ledger.resource(own, targetId);
  });

  const list = async (by = own, slice = FIRST_PAGE): Promise<TargetRuleRow[]> =>
    (await store.list(database.autocommit, by.organizationId, targetId, slice)).rows;
  const held = async (by: LedgerOrganization, ruleId: string, released = false): Promise<string> => {
    const sessionId = await ledger.session(by);
    await ledger.holder(ruleId, by, await ledger.resource(by, targetId), sessionId, { released });
    return sessionId;
  };
  const change = (id: string, set: string): Promise<unknown[]> =>
    ledger.rows(`UPDATE rules SET ${set} WHERE id = $1`, [id]);

  it('names own holders; of those of other organizations, that there are some', async () => {
    const id = await ledger.rule(targetId, AT);
    const sessionId = await held(own, id);
    await held(other, id);
    const [rule, ...more] = await list();
    expect(more).toEqual([]);
    expect(rule).toMatchObject({ id, state: 'present', isWanted: true, isHeldByOthers: true });
    expect(rule!.holders).toEqual([
      expect.objectContaining({ kind: 'SESSION', id: sessionId, userEmail: own.email, releasedAt: null }),
    ]);
    expect(JSON.stringify(rule)).not.toContain(other.email);
  });

  it('is complete only where the organization has a verified resource', async () => {
    await held(other, await ledger.rule(targetId, AT));
    await ledger.rule(targetId, AT, { address: '203.0.113.2/32' });
    const mine = await ledger.rule(targetId, AT, { address: '203.0.113.3/32' });
    await held(own, mine);
    await ledger.rows(`INSERT INTO unmanaged_rules VALUES ($1, '192.0.2.0/24 tcp 22', 'sgr-1', NULL, $2)`, [
      targetId,
      AT[0],
    ]);
    expect(await list()).toHaveLength(4);
    await ledger.rows('UPDATE resources SET write_verified = false WHERE organization_id = $1', [
      own.organizationId,
    ]);
    expect((await list()).map(({ id }) => id)).toEqual([mine]);
  });

  it('shows what is to be removed, since when, and that it is overdue', async () => {
    const id = await ledger.rule(targetId, AT);
    await held(own, id, true);
    await change(
      id,
      `unwanted_since = now() - interval '1 minute', last_error = 'refused', due_at = now() + interval '9 seconds'`,
    );
    const [rule] = await list();
    expect(rule).toMatchObject({ waitsFor: 'BACK_OFF' });
    expect(rule).toMatchObject({ isWanted: false, isOverdue: true, removalCause: 'STALE_RULE' });
    expect(rule).toMatchObject({
      lastError: 'refused',
      holders: [{ releasedAt: expect.any(String) as string }],
    });
  });

  it('keeps the words that a provider said about another organization', async () => {
    const id = await ledger.rule(targetId, AT);
    await held(own, id);
    await change(id, `last_error = 'refused', credential_id = '${other.credentialId}'`);
    expect(await list()).toMatchObject([{ lastError: null }]);
    await change(id, `credential_id = NULL`);
    expect(await list()).toMatchObject([{ lastError: 'refused' }]);
    await held(other, id);
    expect(await list()).toMatchObject([{ lastError: null }]);
  });

  it('leaves out rules that are gone, and pages the rest', async () => {
    await ledger.rule(targetId, [], { state: 'absent' });
    const waiting = await ledger.rule(targetId, [], { address: '203.0.113.2/32', state: 'absent' });
    await held(own, waiting);
    await ledger.rule(targetId, AT, { address: '203.0.113.3/32' });
    expect((await list()).map(({ address }) => address)).toEqual(['203.0.113.2/32', '203.0.113.3/32']);
    expect(await list(own, { page: 1, size: 1 })).toMatchObject([{ address: '203.0.113.3/32' }]);
  });
});
