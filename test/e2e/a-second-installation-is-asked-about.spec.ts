import { randomUUID } from 'node:crypto';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { healthOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** A rule as an installation with the same id would write it. */
const mark = (ruleId: string): string => `drawbridge:test:${ruleId}:1700000000`;

describe('Rules of a second installation with the same id', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(2));
  const ssh = { protocol: 'tcp', fromPort: 22, toPort: 22 };

  const add = (index: number, address: string, ruleId: string): Promise<void> =>
    drawbridge.cloud.addUnmanaged({ target: group(index), address, ...ssh, description: mark(ruleId) });
  const addresses = async (index: number): Promise<string[]> =>
    (await drawbridge.cloud.rules(group(index))).map(({ address }) => address).toSorted();
  const messages = async (index: number): Promise<string[]> => {
    await org.admin.posted(`/resources/${org.resourceIds[index]}/reconcile`);
    const rows = await healthOf(drawbridge, org.resourceIds[index]!);
    return rows.flatMap(({ message }) => message ?? []);
  };
  const asked = (index: number, outcome: string): Promise<string> =>
    until(`people are asked: ${outcome}`, async () => {
      const questions = (await messages(index)).filter((one) => one.includes('a second installation'));
      return questions.find((question) => question.includes(outcome));
    });

  it('are named in an event, one is removed, and the next ones are left alone for now', async () => {
    const ids = [randomUUID(), randomUUID()];
    await Promise.all(ids.map((id, index) => add(0, `203.0.113.${index + 1}`, id)));
    const question = await asked(0, 'removal of 1 scheduled, 1 left alone for now');
    for (const id of ids) expect(question).toContain(`(rule id ${id})`);
    expect(question).toContain('with DEPLOYMENT_ID=test?');
    await until('one is removed', async () => (await addresses(0)).length === 1);
    await asked(0, 'has never known, 1 left alone for now');
    expect(await addresses(0)).toHaveLength(1);
    const events = await drawbridge.query<{ cause: string | null; message: string | null }>(
      `SELECT cause, message FROM rule_events WHERE kind = 'FOUND' AND address LIKE '203.0.113.%' ORDER BY cause`,
    );
    const naming = expect.stringContaining('second installation') as string;
    expect(events).toMatchObject([
      { cause: 'ORPHAN', message: naming },
      { cause: null, message: naming },
    ]);
  });

  it('are told from what this database has made and forgotten, which is removed at once', async () => {
    const issued = 'SELECT issue_rule_id() AS id FROM generate_series(1, 3)';
    const ids = await drawbridge.query<{ id: string }>(issued);
    await Promise.all(ids.map(({ id }, index) => add(1, `203.0.113.${index + 1}`, id)));
    await messages(1);
    await until('all are removed', async () => (await addresses(1)).length === 0);
    expect((await messages(1)).join()).not.toContain('second installation');
  });
});
