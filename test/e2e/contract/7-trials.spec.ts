import { ownOrganization } from '../../builders/accounts/organization';
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
});
