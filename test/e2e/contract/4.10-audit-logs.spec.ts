import { randomUUID } from 'node:crypto';
import {
  AUDIT_RECORD_FIELDS,
  auditPage,
  auditRecords,
  organizationWithRecords,
  type AuditRecord,
} from '../../builders/audit/audit-trail';
import { colleague } from '../../builders/accounts/colleague';
import { organization, ownOrganization } from '../../builders/accounts/organization';
import { PAGE_FIELDS } from '../../builders/contract/page';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.10 Audit logs', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const names = (records: AuditRecord[]): (string | null)[] => records.map((record) => record.resourceName);

  const keyOf = async (userId: string): Promise<ApiClient> => {
    const body = { name: 'reader', scopes: ['audit:read'], userId };
    const { plainTextKey } = await org.admin.created<{ plainTextKey: string }>('/api-keys', body);
    return drawbridge.api.as({ apiKey: plainTextKey });
  };

  it('answers a Page with all of its fields', async () => {
    const page = await auditPage(org.admin);
    expect(Object.keys(page).toSorted()).toEqual(PAGE_FIELDS);
    expect(page).toMatchObject({ number: 0, size: 20, first: true, last: true });
  });

  it('a record has exactly the fields it should', async () => {
    const [record] = await auditRecords(org.admin, '?eventType=ROLE_CREATED');
    expect(Object.keys(record!).toSorted()).toEqual(AUDIT_RECORD_FIELDS);
    expect(record).toMatchObject({
      eventType: 'ROLE_CREATED',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
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

  it('page is 0 and size 20 unless they are given', async () => {
    const own = await organizationWithRecords(drawbridge, 30);
    const page = await auditPage(own.admin, '?eventType=ROLE_DELETED');
    expect(page.content).toHaveLength(20);
    expect(page).toMatchObject({
      totalElements: 30,
      totalPages: 2,
      number: 0,
      size: 20,
      first: true,
      last: false,
      numberOfElements: 20,
    });
  });

  it('records are sorted newest first, and every record is on exactly one page', async () => {
    const own = await organizationWithRecords(drawbridge, 5);
    const pages = await Promise.all(
      [0, 1, 2, 3].map((page) => auditPage(own.admin, `?eventType=ROLE_DELETED&size=2&page=${page}`)),
    );
    expect(pages.map(({ content }) => names(content))).toEqual([
      ['role 1', 'role 2'],
      ['role 3', 'role 4'],
      ['role 5'],
      [],
    ]);
    expect(pages.map(({ first, last, number }) => [first, last, number])).toEqual([
      [true, false, 0],
      [false, false, 1],
      [false, true, 2],
      [false, true, 3],
    ]);
  });

  it('records with the same timestamp are sorted by insertion, the last one first', async () => {
    const own = await organization(drawbridge, []);
    await drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name)
       SELECT $1, 'ROLE_DELETED', 'SYSTEM', n FROM generate_series(1, 9) n`,
      [own.organizationId],
    );
    const pages = await Promise.all(
      [0, 1, 2].map((page) => auditRecords(own.admin, `?eventType=ROLE_DELETED&size=3&page=${page}`)),
    );
    expect(names(pages.flat())).toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1']);
  });

  it.each([
    'eventType=SESSION_STOPED',
    'eventType=session_stopped',
    'actorEmail=nobody',
    'resourceId=1',
    'from=yesterday',
    'from=2026-02-30',
    'from=2026-01-31T09:30:00',
    'to=1700000000',
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

  it('eventType filters by type', async () => {
    const records = await auditRecords(org.admin, '?eventType=RESOURCE_CREATED');
    expect(records.map(({ eventType }) => eventType)).toEqual(['RESOURCE_CREATED']);
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

  it('a record that is named by its own timestamp is found, although the database is finer than a millisecond', async () => {
    const [record] = await auditRecords(org.admin, '?eventType=ROLE_CREATED');
    const found = await auditRecords(org.admin, `?from=${record!.timestamp}&to=${record!.timestamp}`);
    expect(found.map(({ id }) => id)).toContain(record!.id);
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

  it('filters narrow one another', async () => {
    const query = `?eventType=RESOURCE_CREATED&resourceId=${org.resourceIds[0]}`;
    expect(await auditPage(org.admin, query)).toMatchObject({ totalElements: 1 });
    expect(await auditPage(org.admin, `${query}&to=2020-01-01`)).toMatchObject({ totalElements: 0 });
  });

  it('an admin sees the records of the whole organization', async () => {
    const mine = await colleague(org);
    const records = await auditRecords(org.admin);
    expect(records.map(({ actorId }) => actorId)).toEqual(expect.arrayContaining([mine.id, org.adminId]));
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

  it('403 for a key whose user lost admin rights, from the next request on', async () => {
    const mine = await colleague(org);
    await drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [mine.id]);
    const key = await keyOf(mine.id);
    expect((await key.get('/audit-logs')).status).toBe(200);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [mine.id]);
    expect(await key.get('/audit-logs')).toMatchObject({
      status: 403,
      body: { error: 'Forbidden', message: expect.stringContaining('administrator') as string },
    });
    // and the user sees no more than any other
    const records = await auditRecords(mine.client);
    expect(records.map(({ eventType }) => eventType)).not.toContain('ORGANIZATION_REGISTERED');
  });

  it('another organization’s records are not found with any filter', async () => {
    const stranger = await organization(drawbridge, []);
    const [{ email }] = (await drawbridge.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [
      org.adminId,
    ])) as [{ email: string }];
    const queries = [`?resourceId=${org.roleId}`, `?actorEmail=${email}`, `?resourceId=${randomUUID()}`];
    const pages = await Promise.all(queries.map((query) => auditPage(stranger.admin, query)));
    expect(pages.map(({ totalElements }) => totalElements)).toEqual([0, 0, 0]);
    const own = await auditRecords(stranger.admin);
    expect(new Set(own.map(({ actorId }) => actorId))).toEqual(new Set([stranger.adminId]));
  });

  it('the OpenAPI document lists every event type', async () => {
    interface Document {
      components: { schemas: Record<string, { enum?: string[] }> };
    }
    const document = await drawbridge.api.expect(200, drawbridge.api.get<Document>('/openapi.json'));
    expect(document.components.schemas['AuditEventType']?.enum).toEqual(
      expect.arrayContaining([
        'SESSION_STARTED',
        'SESSION_STOPPED',
        'ORGANIZATION_SETTINGS_UPDATE',
        'SUBSCRIPTION_CREATED',
        'RULE_REVOCATION_OVERDUE',
      ]),
    );
  });
});
