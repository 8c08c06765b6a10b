import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { organization } from '../../builders/accounts/organization';
import { ledgerOf } from '../../builders/sessions/rule-ledger';
import { until } from '../../harness/until';

const SECOND_KEY = {
  accessKeyId: 'AKIASIMULATED0000002',
  secretAccessKey: 'simulated-second-secret-access-key',
} as const;

describe('L. A read-only credential does not keep a shared rule', () => {
  const drawbridge = ownForFaults();

  it('the rule is removed at the stop of its writer, and the other holder waits for its own rule [L6]', async () => {
    const bench = await FaultBench.begin(drawbridge, 0);
    const reader = await organization(drawbridge, [{ group: bench.group, config: { port: 22 } }]);
    const address = '203.0.113.1';
    const id = await bench.open(address);
    const staticRule = await reader.admin.created<{ id: string }>('/static-ip-rules', {
      label: 'office',
      ipAddress: address,
      resourceIds: reader.resourceIds,
    });
    const held = async (): Promise<string | undefined> => {
      const [ip] = await drawbridge.query<{ status: string }>(
        'SELECT status FROM resource_ips WHERE static_ip_rule_id = $1',
        [staticRule.id],
      );
      return ip?.status;
    };
    await until('both hold it', async () => (await held()) === 'APPLIED');

    const operations = ['AuthorizeSecurityGroupIngress', 'RevokeSecurityGroupIngress'];
    const faults = [];
    for (const operation of operations)
      faults.push(await bench.breaks({ kind: 'refuse', caller: SECOND_KEY.accessKeyId, operation }));
    await reader.admin.expect(
      200,
      reader.admin.patch(`/credentials/${reader.credentialId}`, { credentialData: SECOND_KEY }),
    );
    const verified = await reader.admin.post(`/resources/${reader.resourceIds[0]}/verify`);
    expect(verified.status).not.toBe(200);

    await bench.stop(id);
    await until('it is closed', async () => (await bench.addresses()).length === 0);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await held()).not.toBe('APPLIED');
    const closed = (await ledgerOf(drawbridge, address)).filter(({ kind }) => kind === 'CLOSED');
    expect(closed.map(({ cause }) => cause)).toContain('SESSION_STOPPED');

    for (const fault of faults) await fault.clear();
    await reader.admin.expect(204, reader.admin.delete(`/static-ip-rules/${staticRule.id}`));
    await bench.holds();
  });
});
