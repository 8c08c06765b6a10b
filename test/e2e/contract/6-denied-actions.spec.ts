import { randomUUID } from 'node:crypto';
import { auditPage, auditRecords, type AuditRecord } from '../../builders/audit/audit-trail';
import { colleague } from '../../builders/accounts/colleague';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import { freshAddress } from '../../builders/sessions/session-in-status';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('6 Events: a denied action is recorded with its type and FAILURE:', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const failure = async (eventType: string, by: string): Promise<AuditRecord[]> => {
    const records = await auditRecords(org.admin, `?eventType=${eventType}&size=100`);
    return records.filter(({ result, actorId }) => result === 'FAILURE' && actorId === by);
  };

  it.each([
    ['POST', '/roles', 'ROLE_CREATED', 'ROLE'],
    ['POST', '/credentials', 'CREDENTIAL_CREATED', 'CREDENTIAL'],
    ['POST', '/resources', 'RESOURCE_CREATED', 'RESOURCE'],
    ['POST', `/resources/${randomUUID()}/verify`, 'RESOURCE_VERIFIED', 'RESOURCE'],
    ['POST', `/sessions/admin/${randomUUID()}/stop`, 'SESSION_STOPPED', 'SESSION'],
    ['DELETE', `/api-keys/${randomUUID()}`, 'API_KEY_REVOKED', 'API_KEY'],
  ])('%s %s by a user without admin rights', async (method, path, eventType, resourceType) => {
    const mine = await colleague(org);
    expect((await mine.client.send(method, path, method === 'POST' ? {} : undefined)).status).toBe(403);
    expect(await failure(eventType, mine.id)).toMatchObject([
      {
        actorType: 'USER',
        actorEmail: mine.email,
        resourceType,
        // whether the object exists was not checked
        resourceId: null,
        ipAddress: '127.0.0.1',
        errorMessage: expect.stringContaining('administrator') as string,
        details: { status: 403, path: `/api/v1${path}` },
      },
    ]);
  });

  it('starting a session with an API key that lacks the scope, by the key', async () => {
    const key = await org.admin.created<{ id: string; plainTextKey: string }>('/api-keys', {
      name: 'reader',
      scopes: ['sessions:read'],
    });
    const client = drawbridge.api.as({ apiKey: key.plainTextKey });
    expect((await client.post('/sessions', { ipv4Address: freshAddress() })).status).toBe(403);
    expect(await failure('SESSION_STARTED', key.id)).toMatchObject([
      { actorType: 'API_KEY', resourceType: 'SESSION', details: { status: 403 } },
    ]);
  });

  it('stopping another user’s session', async () => {
    const mine = await colleague(org);
    const { id } = await org.started({ ipv4Address: freshAddress() });
    expect((await mine.client.post(`/sessions/${id}/stop`)).status).toBe(403);
    expect(await failure('SESSION_STOPPED', mine.id)).toMatchObject([
      { resourceType: 'SESSION', resourceId: id, errorMessage: 'The session belongs to another user' },
    ]);
  });

  it('starting a session on a resource without a grant, and a duplicate session', async () => {
    const mine = await colleague(org);
    const plain = await colleague(org, []);
    expect((await plain.client.post('/sessions', { resourceIds: org.resourceIds })).status).toBe(403);
    expect(await failure('SESSION_STARTED', plain.id)).toMatchObject([{ details: { status: 403 } }]);
    const body = { ipv4Address: freshAddress() };
    await mine.client.posted('/sessions', body);
    expect((await mine.client.post('/sessions', body)).status).toBe(409);
    expect(await failure('SESSION_STARTED', mine.id)).toMatchObject([
      { resourceType: 'SESSION', resourceId: null, details: { status: 409 } },
    ]);
  });

  it('a request that a limit, a policy or a reference forbids with 400', async () => {
    const own = await organization(drawbridge, [{ group: group(7) }]);
    const recorded = async (eventType: string): Promise<AuditRecord[]> => {
      const records = await auditRecords(own.admin, `?eventType=${eventType}&size=100`);
      return records.filter(({ result }) => result === 'FAILURE');
    };
    const { id } = await own.started({ ipv4Address: freshAddress() });
    const refused = [
      await own.admin.post('/sessions', { ipv4Address: freshAddress(), durationHours: 25 }),
      await own.admin.post(`/sessions/${id}/extend`, { additionalHours: 25 }),
      await own.admin.delete(`/credentials/${own.credentialId}`),
      await own.admin.delete(`/resources/${own.resourceIds[0]}`),
      await own.admin.delete(`/users/${own.adminId}`),
      await own.admin.post(`/roles/${own.roleId}/users/${own.adminId}`),
      await own.admin.post(`/users/${(await colleague(own)).id}/reset-mfa`),
      await own.admin.post('/mfa/disable', { code: '000000' }),
    ];
    await own.admin.expect(200, own.admin.patch('/organization/settings', { requireDetectedAddress: true }));
    refused.push(await own.admin.post('/sessions', { ipv4Address: freshAddress() }));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([400]));
    for (const [eventType, ...words] of [
      ['SESSION_STARTED', 'the address you call from', 'at most 24'],
      ['SESSION_EXTENDED', 'at most 24'],
      ['CREDENTIAL_DELETED', 'is used by'],
      ['RESOURCE_DELETED', 'Sessions use the resource'],
      ['USER_DELETED', 'last active administrator'],
      ['ROLE_USER_ASSIGNED', 'already assigned'],
      ['MFA_RESET', 'MFA is not enabled'],
      ['MFA_DISABLED', 'MFA is not on'],
    ] as const)
      expect([eventType, await recorded(eventType)]).toMatchObject([
        eventType,
        words.map((text) => ({
          details: { status: 400 },
          errorMessage: expect.stringContaining(text) as string,
        })),
      ]);
  });

  it('malformed requests and requests for missing objects are not recorded', async () => {
    const mine = await colleague(org);
    const refused = [
      await mine.client.post('/sessions', { durationHours: 0 }),
      await mine.client.post('/sessions', { resourceIds: [randomUUID()] }),
      await mine.client.post(`/sessions/${randomUUID()}/stop`),
      await mine.client.get('/sessions/admin'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 404, 404, 403]);
    expect(await auditPage(mine.client, `?actorEmail=${mine.email}`)).toMatchObject({
      content: [{ eventType: 'USER_LOGIN' }],
    });
  });

  it('at most ten per minute and user are recorded', async () => {
    const mine = await colleague(org);
    for (let tries = 0; tries < 14; tries += 1) {
      expect((await mine.client.post('/roles', { name: 'mine' })).status).toBe(403);
    }
    expect(await failure('ROLE_CREATED', mine.id)).toHaveLength(10);
    const other = await colleague(org);
    expect((await other.client.post('/roles', { name: 'mine' })).status).toBe(403);
    expect(await failure('ROLE_CREATED', other.id)).toHaveLength(1);
  });
});
