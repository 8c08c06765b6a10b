import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { healthOf, ledgerOf } from '../../builders/sessions/rule-ledger';
import { until } from '../../harness/until';

describe('L. A rule of ours edited by another program', () => {
  const drawbridge = ownForFaults({ worker: false });

  beforeAll(async () => {
    await drawbridge.startWorker({ RECONCILE_SECONDS: '86400' });
  });

  const idOf = async (bench: FaultBench): Promise<string> => (await bench.rules())[0]!.providerRuleId;
  const kindsOf = async (address: string): Promise<string[]> =>
    (await ledgerOf(drawbridge, address)).map(({ kind }) => kind);

  it('without its mark is removed at the stop, by its recorded id [L4]', async () => {
    const bench = await FaultBench.begin(drawbridge, 0);
    const address = '203.0.113.1';
    const id = await bench.open(address);
    const providerRuleId = await idOf(bench);
    await drawbridge.cloud.changeByHand(bench.group, address, { description: 'office' });
    await bench.stop(id);
    const ended = await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
    expect(ended.resourceIps).toMatchObject([{ status: 'REMOVED', providerRuleId }]);
    const rows = await ledgerOf(drawbridge, address);
    expect(rows).toContainEqual(
      expect.objectContaining({ kind: 'CLOSED', cause: 'SESSION_STOPPED', providerRuleId }),
    );
    await bench.holds();
  });

  it('without its mark stays while its session is live, also after a comparison [L4]', async () => {
    const bench = await FaultBench.begin(drawbridge, 1);
    const address = '203.0.113.2';
    const id = await bench.open(address);
    await drawbridge.cloud.changeByHand(bench.group, address, { description: 'office' });
    const resourceId = bench.org.resourceIds[0]!;
    const compared = async (): Promise<number> => (await healthOf(drawbridge, resourceId)).length;
    const before = await compared();
    await bench.org.admin.posted(`/resources/${resourceId}/reconcile`);
    await until('it is compared', async () => (await compared()) > before);
    expect((await bench.org.session(id)).status).toBe('ACTIVE');
    expect(await kindsOf(address)).toEqual(['OPENED']);
    expect(await bench.addresses()).toEqual([address]);
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
    await bench.holds();
  });

  it('with another address under the same id is reported, and written again as it was [L5]', async () => {
    const bench = await FaultBench.begin(drawbridge, 2);
    const [address, other] = ['203.0.113.3', '0.0.0.0/0'];
    const id = await bench.open(address);
    for (const changed of [address, other]) bench.watch.expectOutsideChange(bench.group, changed);
    await drawbridge.cloud.changeByHand(bench.group, address, { address: other });
    await bench.org.admin.posted(`/resources/${bench.org.resourceIds[0]}/reconcile`);
    await until('it is repaired', async () => (await kindsOf(address)).includes('RESTORED'));
    const rows = await ledgerOf(drawbridge, address);
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'CHANGED', message: expect.stringContaining(other) as string }),
      ]),
    );
    expect(await bench.addresses()).toEqual([address]);
    const health = await healthOf(drawbridge, bench.org.resourceIds[0]!);
    const messages = health.map(({ message }) => message).join('\n');
    expect(messages).toContain('1 of ours changed, to be written again');
    expect(messages).toContain(`lets everybody (${other}) in to tcp 22`);
    await until('the session is ACTIVE again', async () => (await bench.org.session(id)).status === 'ACTIVE');

    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.rules()).toEqual([]);
    await bench.holds();
  });
});
