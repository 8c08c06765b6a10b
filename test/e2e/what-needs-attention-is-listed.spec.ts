import type { Schemas } from '#client';
import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { webhook } from '../builders/notices/webhooks';
import { Drawbridge } from '../harness/product/drawbridge';
import { containing } from '../harness/matching';
import { until } from '../harness/until';

type Item = Schemas['AttentionDto'];

describe('What is not as it should be is one list, and goes with its cause', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge, sshTo([1]));

  const items = (query = ''): Promise<Item[]> => org.admin.read<Item[]>(`/attention${query}`);
  const kinds = async (query = ''): Promise<string[]> => (await items(query)).map(({ kind }) => kind);
  const appears = (kind: string): Promise<Item> =>
    until(`${kind} is listed`, async () => (await items()).find((item) => item.kind === kind) ?? false);
  const allGone = (): Promise<unknown> =>
    until('nothing is listed', async () => (await kinds()).length === 0);
  /** Writes a state that takes days or a program of others to come about. */
  const write = (statement: string, ...given: unknown[]): Promise<unknown> =>
    drawbridge.query(statement, given);

  const refusal = { kind: 'refuse', target: group(0) };
  const elsewhere = (): Promise<Item[]> => other.admin.read<Item[]>('/attention');

  it('an organization in which all is well has nothing', async () => {
    expect(await items()).toEqual([]);
  });

  it('a resource and a credential that the cloud refuses', async () => {
    await write(
      `UPDATE credentials SET is_valid = false, verification_error = 'The key was revoked' WHERE id = $1`,
      org.credentialId,
    );
    const credential = await appears('CREDENTIAL_FAILING');
    expect(credential).toMatchObject({ severity: 'NOW', objectId: org.credentialId });
    expect(await elsewhere()).toEqual([]);
    await org.admin.post(`/credentials/${org.credentialId}/verify`);
    await drawbridge.cloud.fault({ ...refusal, operation: 'DescribeSecurityGroupRules' });
    await org.admin.post(`/resources/${org.resourceIds[0]}/reconcile`);
    const resource = await appears('RESOURCE_REFUSED');
    expect(resource).toMatchObject({ objectId: org.resourceIds[0], message: expect.any(String) as string });
    await drawbridge.cloud.clearFaults();
    await org.admin.post(`/resources/${org.resourceIds[0]}/verify`);
    await org.admin.post(`/resources/${org.resourceIds[0]}/reconcile`);
    await allGone();
  });

  it('access that is not closed in time', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.1' });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({ ...refusal, operation: 'RevokeSecurityGroupIngress' });
    await org.admin.posted(`/sessions/${id}/stop`);
    await until('its removal is refused', async () => (await org.session(id)).status === 'EXPIRING');
    await write(
      `UPDATE rules SET unwanted_since = now() - interval '2 minutes' WHERE address = '203.0.113.1/32'`,
    );
    expect(await appears('RULE_OVERDUE')).toMatchObject({ severity: 'NOW', objectId: org.resourceIds[0] });
    await drawbridge.cloud.clearFaults();
    await write(`UPDATE rules SET due_at = now() WHERE address = '203.0.113.1/32'`);
    await org.reaches(id, 'CANCELLED');
    await org.admin.posted(`/resources/${org.resourceIds[0]}/reconcile`);
    await allGone();
  });

  it('a webhook that does not arrive, keys that end, one administrator, a locked-down person', async () => {
    const person = await colleague(org);
    const hook = await webhook(org, 'https://hooks.example.com/1');
    await write('UPDATE webhooks SET failing_since = now() WHERE id = $1', hook.id);
    const body = { name: 'ci', scopes: ['sessions:read'] };
    const key = await org.admin.created('/api-keys', body);
    await write(`UPDATE api_keys SET expires_at = now() + interval '3 days' WHERE id = $1`, key.id);
    expect(await kinds()).toEqual(['WEBHOOK_FAILING', 'KEY_ENDING', 'ONE_ADMINISTRATOR']);
    await org.admin.posted(`/users/${person.id}/lockdown`, { reason: 'A laptop was stolen' });
    expect(await kinds('?severity=NOW')).toEqual(['WEBHOOK_FAILING', 'LOCKED_DOWN']);
    expect(await elsewhere()).toEqual([]);
    expect(await kinds('?kind=KEY_ENDING&kind=LOCKED_DOWN&size=1')).toEqual(['LOCKED_DOWN']);
    expect((await items('?kind=LOCKED_DOWN'))[0]).toMatchObject({ message: 'A laptop was stolen' });
    await org.admin.delete(`/webhooks/${hook.id}`);
    await org.admin.delete(`/api-keys/${key.id}`);
    await org.admin.delete(`/users/${person.id}/lockdown`);
    await org.admin.delete(`/users/${person.id}`);
    await allGone();
  });

  it('is for administrators, and names the filter that is wrong', async () => {
    const person = await colleague(org);
    expect((await person.client.get('/attention')).status).toBe(403);
    const { status, body } = await org.admin.get<{ message: string }>('/attention?kind=ODD');
    expect([status, body.message]).toEqual([400, containing('kind must be one of RULE_OVERDUE')]);
  });
});
