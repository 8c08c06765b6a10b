import {
  auditPage,
  auditRecords,
  organizationWithRecords,
  type AuditRecord,
} from '../../builders/audit/audit-trail';
import { colleague } from '../../builders/accounts/colleague';
import { organization, ownOrganization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.10 Audit logs', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const names = (records: AuditRecord[]): (string | null)[] => records.map((record) => record.resourceName);

  it('a record says who did what to what, and whence; page is 0 and size 20 unless they are given', async () => {
    const page = await auditPage(org.admin, '?eventType=ROLE_CREATED');
    expect(page).toMatchObject({ number: 0, size: 20, first: true, last: true });
    expect(page.content[0]).toMatchObject({
      eventType: 'ROLE_CREATED',
      actorType: 'USER',
      actorId: org.adminId,
      actorEmail: expect.stringContaining('@example.com') as string,
      resourceType: 'ROLE',
      resourceId: org.roleId,
      resourceName: 'Developers',
      result: 'SUCCESS',
      ipAddress: '127.0.0.1',
      errorMessage: null,
      details: {},
    });
  });

  it.each([
    'eventType=SESSION_STOPED',
    'actorEmail=nobody',
    'resourceId=1',
    'from=yesterday',
    'from=2026-02-30',
    'from=2026-01-31T09:30:00',
    'to=2026-13-01T00:00:00Z',
  ])('400 for %s, naming the field', async (query) => {
    const answer = await org.admin.get<{ validationErrors: Record<string, string> }>(`/audit-logs?${query}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.validationErrors)).toEqual([query.split('=')[0]]);
  });

  it('400 for an unknown event type names the ones there are', async () => {
    const answer = await org.admin.get<{ message: string }>(
      '/audit-logs?eventType=SESSION_STOPPED&eventType=NO_SUCH',
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(
      /^eventType must be one of .*STATIC_IP_RULE_CREATED.*SESSION_STOPPED/,
    );
  });

  it('400 for a time that ends before it begins', async () => {
    const answer = await org.admin.get('/audit-logs?from=2026-02-01&to=2026-01-01');
    expect(answer).toMatchObject({
      status: 400,
      body: { validationErrors: { from: 'must not be later than to' } },
    });
  });

  it('eventType may be repeated: any of them', async () => {
    const records = await auditRecords(org.admin, '?eventType=RESOURCE_CREATED&eventType=CREDENTIAL_CREATED');
    expect(records.map(({ eventType }) => eventType)).toEqual(['RESOURCE_CREATED', 'CREDENTIAL_CREATED']);
  });

  it('actorEmail filters by actor, case-insensitively', async () => {
    const mine = await colleague(org);
    const [login] = await auditRecords(org.admin, `?actorEmail=${mine.email.toUpperCase()}`);
    expect(login).toMatchObject({ eventType: 'USER_LOGIN', actorEmail: mine.email });
    expect(await auditPage(org.admin, `?actorEmail=${mine.email}`)).toMatchObject({ totalElements: 1 });
  });

  it('resourceId filters by the affected object', async () => {
    const records = await auditRecords(org.admin, `?resourceId=${org.resourceIds[0]}`);
    expect(records.map(({ eventType }) => eventType)).toEqual(['RESOURCE_VERIFIED', 'RESOURCE_CREATED']);
  });

  it('from and to are both included', async () => {
    const own = await organizationWithRecords(drawbridge, 5);
    const [, second, third, fourth] = await auditRecords(own.admin, '?eventType=ROLE_DELETED');
    const between = await auditRecords(own.admin, `?from=${fourth!.timestamp}&to=${second!.timestamp}`);
    expect(names(between)).toEqual(['role 2', 'role 3', 'role 4']);
    const after = new Date(Date.parse(third!.timestamp) + 1).toISOString();
    const later = await auditRecords(own.admin, `?eventType=ROLE_DELETED&from=${after}`);
    expect(names(later)).toEqual(['role 1', 'role 2']);
    const exactly = await auditRecords(own.admin, `?from=${third!.timestamp}&to=${third!.timestamp}`);
    expect(names(exactly)).toEqual(['role 3']);
  });

  it('times may have an offset, or be a day in UTC', async () => {
    const own = await organization(drawbridge, []);
    await drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
       VALUES ($1, 'ROLE_DELETED', 'SYSTEM', 'before', '2026-01-30T23:59:59.999Z'),
         ($1, 'ROLE_DELETED', 'SYSTEM', 'after', '2026-01-31T00:00:00Z')`,
      [own.organizationId],
    );
    const to = '&to=2026-02-01';
    expect(names(await auditRecords(own.admin, `?from=2026-01-31${to}`))).toEqual(['after']);
    expect(names(await auditRecords(own.admin, `?from=2026-01-31T02:00:00%2B02:00${to}`))).toEqual(['after']);
    expect(names(await auditRecords(own.admin, `?from=2026-01-31T00:59%2B01:00${to}`))).toEqual([
      'after',
      'before',
    ]);
  });

  it('another user sees records of own actions and of actions on the user', async () => {
    const mine = await colleague(org);
    const started = await mine.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.9' });
    await org.admin.posted(`/sessions/admin/${started.id}/stop`);
    const records = await auditRecords(mine.client);
    expect(records.map(({ eventType, actorId }) => [eventType, actorId === mine.id])).toEqual([
      ['SESSION_STOPPED', false],
      ['SESSION_STARTED', true],
      ['USER_LOGIN', true],
      ['ROLE_USER_ASSIGNED', false],
    ]);
    expect(await auditPage(mine.client)).toMatchObject({ totalElements: 4, last: true });
  });

  it('another user sees no records of other users with any filter', async () => {
    const [mine, other] = [await colleague(org), await colleague(org)];
    const queries = [
      `?resourceId=${other.id}`,
      `?actorEmail=${other.email}`,
      '?eventType=ROLE_CREATED&eventType=RESOURCE_VERIFIED',
      `?resourceId=${org.resourceIds[0]}`,
    ];
    const pages = await Promise.all(queries.map((query) => auditPage(mine.client, query)));
    expect(pages.map(({ totalElements }) => totalElements)).toEqual([0, 0, 0, 0]);
  });

  it('a user sees the actions of their keys, and the creation of a key by an admin', async () => {
    const mine = await colleague(org);
    const body = { name: 'pipeline', scopes: ['sessions:write'], userId: mine.id };
    const { id, plainTextKey } = await org.admin.created<{ id: string; plainTextKey: string }>(
      '/api-keys',
      body,
    );
    const key = drawbridge.api.as({ apiKey: plainTextKey });
    await key.posted('/sessions', { ipv4Address: '203.0.113.10' });
    const records = await auditRecords(mine.client, '?eventType=SESSION_STARTED&eventType=API_KEY_CREATED');
    expect(records).toMatchObject([
      { eventType: 'SESSION_STARTED', actorType: 'API_KEY', actorId: id, actorEmail: mine.email },
      { eventType: 'API_KEY_CREATED', actorId: org.adminId, resourceId: id },
    ]);
  });

  it('an audit:read key of an admin sees the records of the whole organization', async () => {
    const key = await org.apiKey(['audit:read']);
    const records = await auditRecords(key);
    expect(records.map(({ eventType }) => eventType)).toEqual(
      expect.arrayContaining(['ORGANIZATION_REGISTERED', 'API_KEY_CREATED']),
    );
  });
});
