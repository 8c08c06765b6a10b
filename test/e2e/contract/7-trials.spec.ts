import { ownOrganization } from '../../builders/accounts/organization';
import { documentedOperations } from '../../harness/contract/documented-operations';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('7 Errors: trials', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, []);

  it('a wish to change nothing is refused, and nothing is changed', async () => {
    const { id } = await org.admin.created<{ id: string }>('/roles', { name: 'Kept' });
    const asked: [method: string, path: string, body: string | undefined, field: string][] = [
      ['POST', '/roles', '{"name":"Tried","dryRun":true}', 'dryRun'],
      ['PATCH', `/roles/${id}?validate-only`, '{"name":"Tried"}', 'validate-only'],
      ['DELETE', `/roles/${id}?DryRun=1`, undefined, 'DryRun'],
      ['DELETE', `/roles/${id}`, '{"what_if":"yes"}', 'what_if'],
    ];
    for (const [method, path, body, field] of asked) {
      const answer = await org.admin.send<{ validationErrors: unknown }>(method, path, body);
      expect([answer.status, answer.body.validationErrors]).toEqual([
        400,
        { [field]: expect.stringContaining('is not supported') as string },
      ]);
    }
    const { body } = await org.admin.get<{ name: string }[]>('/roles?size=100');
    expect(body.map(({ name }) => name)).toEqual(expect.arrayContaining(['Kept']));
    expect(body.map(({ name }) => name)).not.toContain('Tried');
    await org.admin.expect(204, org.admin.send('DELETE', `/roles/${id}`, '{"dryRun":false}'));
  });

  it('of every request that changes something there is a plan, or it is refused', async () => {
    const recorded = (): Promise<object[]> =>
      drawbridge.query(`SELECT id FROM audit_records WHERE organization_id = $1 AND result = 'SUCCESS'`, [
        org.organizationId,
      ]);
    const id = org.adminId;
    const before = await recorded();
    const planned: string[] = [];
    const operations = await documentedOperations(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`);
    for (const { name, method, path, takesBody } of operations) {
      if (method === 'GET') continue;
      const body = takesBody
        ? {
            dryRun: true,
            reason: 'x',
            ipAddress: '203.0.113.9',
            label: 'x',
            resourceIds: [],
            addUserIds: [id],
            userIds: [id],
            action: 'ACTIVATE',
          }
        : {};
      for (const [where, query] of [
        [body, ''],
        [{ ...body, dryRun: null }, '?dryRun=true'],
      ] as const) {
        if (!takesBody && query === '') continue;
        const answer = await org.admin.send<{ dryRun?: true; validationErrors?: object }>(
          method,
          path + query,
          JSON.stringify(where),
        );
        const isPlanned = answer.status === 200 && answer.body.dryRun === true;
        expect([name, isPlanned || [400, 401, 403, 404].includes(answer.status)]).toEqual([name, true]);
        if (isPlanned) planned.push(name);
      }
    }
    const documented = operations.filter(
      ({ method, parameters }) => method !== 'GET' && parameters.includes('dryRun'),
    );
    expect([...new Set(planned)].toSorted()).toEqual(documented.map(({ name }) => name).toSorted());
    expect(await recorded()).toEqual(before);
  });
});
