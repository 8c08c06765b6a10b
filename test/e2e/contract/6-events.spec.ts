import { randomUUID } from 'node:crypto';
import { auditRecords, type AuditRecord } from '../../builders/audit/audit-trail';
import { colleague, type Colleague } from '../../builders/accounts/colleague';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import { resourceBody } from '../../builders/resources/resources';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

describe('6 Events', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let member: Colleague;
  /** the transaction that wrote the credential, before a worker checked it */
  let credentialWritten: { transaction: string } | undefined;

  beforeAll(async () => {
    [credentialWritten] = await drawbridge.query<{ transaction: string }>(
      'SELECT xmin::text AS transaction FROM credentials WHERE id = $1',
      [org.credentialId],
    );
    await drawbridge.startWorker();
    member = await colleague(org);
  });

  /** The newest record of what was done to something. */
  const recordOf = async (eventType: string, resourceId: string): Promise<AuditRecord> => {
    const [record] = await auditRecords(org.admin, `?eventType=${eventType}&resourceId=${resourceId}`);
    if (!record) throw new Error(`${eventType} of ${resourceId} left no record`);
    return record;
  };

  /** Waits for what the worker does. */
  const systemRecordOf = (eventType: string, resourceId: string): Promise<AuditRecord> =>
    until(`${eventType} is recorded`, async () => {
      const [record] = await auditRecords(org.admin, `?eventType=${eventType}&resourceId=${resourceId}`);
      return record;
    });

  /** Whether the transaction that wrote a row last is the one that wrote its record. */
  const isOneTransaction = async (table: string, id: string, record: AuditRecord): Promise<boolean> => {
    const [row] = await drawbridge.query<{ same: boolean }>(
      `SELECT r.xmin::text::bigint = a.transaction_id % 4294967296 AS same
       FROM ${table} r, audit_records a WHERE r.id = $1 AND a.id = $2`,
      [id, record.id],
    );
    return row!.same;
  };

  let address = 0;
  const freeAddress = (): string => `198.51.100.${(address += 1)}`;
  const started = async (by = org.admin): Promise<string> => {
    const body = { ipv4Address: freeAddress() };
    return (await by.posted<{ id: string }>('/sessions', body)).id;
  };

  it('registering an organization and signing in are recorded in their transactions', async () => {
    const record = await recordOf('ORGANIZATION_REGISTERED', org.organizationId);
    expect(record).toMatchObject({ actorType: 'USER', actorId: org.adminId, resourceType: 'ORGANIZATION' });
    expect(await isOneTransaction('users', org.adminId, record)).toBe(true);
    const [login] = await auditRecords(member.client, '?eventType=USER_LOGIN');
    expect(login).toMatchObject({ resourceType: 'USER', resourceId: member.id, actorEmail: member.email });
    expect(await isOneTransaction('users', member.id, login!)).toBe(true);
  });

  it('CREDENTIAL_CREATED is recorded in the transaction of the action', async () => {
    const record = await recordOf('CREDENTIAL_CREATED', org.credentialId);
    expect(record).toMatchObject({
      result: 'SUCCESS',
      actorId: org.adminId,
      details: { provider: 'AWS' },
    });
    const [written] = await drawbridge.query<{ transaction: string }>(
      'SELECT (transaction_id % 4294967296)::text AS transaction FROM audit_records WHERE id = $1',
      [record.id],
    );
    expect(written).toEqual(credentialWritten);
  });

  it('ROLE_CREATED and RESOURCE_CREATED are recorded in the transaction of the action', async () => {
    const role = await recordOf('ROLE_CREATED', org.roleId);
    expect(role).toMatchObject({ result: 'SUCCESS', actorId: org.adminId, details: {} });
    expect(await isOneTransaction('roles', org.roleId, role)).toBe(true);
    const body = resourceBody(org, { name: 'another', resourceIdentifier: group(8) });
    const { id } = await org.admin.created<{ id: string }>('/resources', body);
    const record = await recordOf('RESOURCE_CREATED', id);
    expect(record).toMatchObject({ resourceName: 'another', details: { resourceIdentifier: group(8) } });
    expect(await isOneTransaction('resources', id, record)).toBe(true);
  });

  it('a verification that succeeds is recorded in its transaction, and as a health event', async () => {
    const [id] = org.resourceIds as [string];
    await org.admin.posted(`/resources/${id}/verify`);
    const record = await recordOf('RESOURCE_VERIFIED', id);
    expect(record).toMatchObject({ result: 'SUCCESS', errorMessage: null, resourceName: 'resource-0' });
    expect(await isOneTransaction('resources', id, record)).toBe(true);
    const { content } = await org.admin.expect(
      200,
      org.admin.get<{ content: { eventType: string }[] }>(`/resource-health/events?resourceId=${id}&size=1`),
    );
    expect(content).toMatchObject([{ eventType: 'VERIFY_OK' }]);
  });

  it('a verification that fails is recorded as one that failed, once, with why', async () => {
    const own = await organization(drawbridge, [{ group: group(5) }]);
    const [id] = own.resourceIds as [string];
    await drawbridge.cloud.fault({ kind: 'refuse', target: group(5), count: 1 });
    expect((await own.admin.post(`/resources/${id}/verify`)).status).toBe(400);
    const records = await auditRecords(own.admin, `?eventType=RESOURCE_VERIFIED&resourceId=${id}`);
    expect(records).toMatchObject([
      { result: 'FAILURE', errorMessage: expect.stringMatching(/not authorized/i) as string },
      { result: 'SUCCESS' },
    ]);
  });

  it('making and revoking an API key are recorded in their transactions, without the key', async () => {
    const key = await org.admin.created<{ id: string; plainTextKey: string }>('/api-keys', {
      name: 'pipeline',
      scopes: ['sessions:read'],
    });
    const created = await recordOf('API_KEY_CREATED', key.id);
    expect(created).toMatchObject({ resourceName: 'pipeline', details: { scopes: ['sessions:read'] } });
    expect(await isOneTransaction('api_keys', key.id, created)).toBe(true);
    await org.admin.expect(204, org.admin.delete(`/api-keys/${key.id}`));
    const revoked = await recordOf('API_KEY_REVOKED', key.id);
    expect(await isOneTransaction('api_keys', key.id, revoked)).toBe(true);
    expect(JSON.stringify([created, revoked])).not.toContain(key.plainTextKey);
  });

  it('starting a session is recorded, and so is that its rules were applied', async () => {
    const id = await started();
    expect(await recordOf('SESSION_STARTED', id)).toMatchObject({
      actorType: 'USER',
      actorId: org.adminId,
      resourceType: 'SESSION',
      details: { ipv4Address: `198.51.100.${address}`, durationHours: 1, addressDiffersFromCaller: true },
    });
    expect(await systemRecordOf('SESSION_ACTIVATED', id)).toMatchObject({
      actorType: 'SYSTEM',
      actorId: null,
      actorEmail: null,
      ipAddress: null,
      result: 'SUCCESS',
    });
  });

  it('a session that a key started names the key, and its user’s e-mail', async () => {
    const key = await org.apiKey(['sessions:write']);
    const [made] = await auditRecords(org.admin, '?eventType=API_KEY_CREATED&size=1');
    const id = await started(key);
    expect(await recordOf('SESSION_STARTED', id)).toMatchObject({
      actorType: 'API_KEY',
      actorId: made!.resourceId,
      actorEmail: made!.actorEmail,
      details: { apiKey: 'pipeline' },
    });
  });

  it('extending a session is recorded in its transaction', async () => {
    const id = await started();
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/extend`, { additionalHours: 2 });
    const record = await recordOf('SESSION_EXTENDED', id);
    expect(record).toMatchObject({ details: { additionalHours: 2 } });
    expect(await isOneTransaction('sessions', id, record)).toBe(true);
  });

  it('stopping a session is recorded with session, addresses and reason, and then its removal', async () => {
    const id = await started(member.client);
    const stopped = await member.client.posted<{ ipv4Address: string }>(`/sessions/${id}/stop`);
    expect(await recordOf('SESSION_STOPPED', id)).toMatchObject({
      actorId: member.id,
      details: { sessionId: id, userId: member.id, ipv4Address: stopped.ipv4Address, reason: 'MANUAL' },
    });
    expect(await systemRecordOf('SESSION_CANCELLED', id)).toMatchObject({ actorType: 'SYSTEM' });
  });

  it('a stop by an admin is SESSION_STOPPED: actor the admin, target the user, reason ADMIN', async () => {
    const id = await started(member.client);
    await org.admin.posted(`/sessions/admin/${id}/stop`);
    expect(await recordOf('SESSION_STOPPED', id)).toMatchObject({
      actorId: org.adminId,
      resourceName: member.email,
      details: {
        sessionId: id,
        userId: member.id,
        userEmail: member.email,
        ipv4Address: `198.51.100.${address}`,
        ipv6Address: null,
        reason: 'ADMIN',
      },
    });
  });

  it('a session whose time is over is SESSION_EXPIRED, by SYSTEM', async () => {
    const id = await started(member.client);
    await org.reaches(id, 'ACTIVE');
    await org.expire(id);
    const record = await systemRecordOf('SESSION_EXPIRED', id);
    expect(record).toMatchObject({ actorType: 'SYSTEM', result: 'SUCCESS', resourceName: member.email });
    expect(await isOneTransaction('sessions', id, record)).toBe(true);
    expect(
      (await auditRecords(member.client, `?resourceId=${id}`)).map(({ eventType }) => eventType),
    ).toEqual(['SESSION_EXPIRED', 'SESSION_ACTIVATED', 'SESSION_STARTED']);
  });

  it('a session that failed on every resource is SESSION_FAILED, with the provider’s message', async () => {
    const own = await organization(drawbridge, [{ group: group(6) }]);
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(6),
      operation: 'AuthorizeSecurityGroupIngress',
      seconds: 60,
    });
    const { id } = await own.started({ ipv4Address: '203.0.113.60' });
    await own.reaches(id, 'FAILED');
    const records = await auditRecords(own.admin, `?eventType=SESSION_FAILED&resourceId=${id}`);
    expect(records).toMatchObject([
      { result: 'FAILURE', errorMessage: expect.stringMatching(/not authorized/i) as string },
    ]);
  });

  it('a rule that is still present after a minute is RULE_REVOCATION_OVERDUE, recorded once', async () => {
    const own = await organization(drawbridge, [{ group: group(7) }]);
    const { id } = await own.started({ ipv4Address: '203.0.113.61' });
    await own.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(7),
      operation: 'RevokeSecurityGroupIngress',
      seconds: 60,
    });
    await own.admin.posted(`/sessions/${id}/stop`);
    await until('the removal was tried', async () => {
      const [tried] = await drawbridge.query(
        `SELECT FROM rules WHERE address = '203.0.113.61/32' AND last_error IS NOT NULL`,
      );
      return tried;
    });
    expect(await auditRecords(own.admin, '?eventType=RULE_REVOCATION_OVERDUE')).toEqual([]);
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = unwanted_since - interval '1 minute' WHERE id IN (SELECT h.rule_id FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE ip.session_id = $1)`,
      [id],
    );
    const [told] = await until('it is recorded', async () => {
      const records = await auditRecords(own.admin, '?eventType=RULE_REVOCATION_OVERDUE');
      return records.length > 0 && records;
    });
    expect(told).toMatchObject({
      actorType: 'SYSTEM',
      resourceType: 'RESOURCE',
      resourceId: own.resourceIds[0],
      resourceName: 'resource-0',
      result: 'FAILURE',
      errorMessage: expect.stringMatching(/not authorized/i) as string,
      details: { target: group(7), ipAddress: '203.0.113.61', sessionId: id, userId: own.adminId },
    });
    await drawbridge.cloud.clearFaults();
    // the next try would come by itself, half a minute later at most
    await drawbridge.query(`UPDATE rules SET due_at = now() WHERE address = '203.0.113.61/32'`);
    await own.reaches(id, 'CANCELLED');
    expect(await auditRecords(own.admin, '?eventType=RULE_REVOCATION_OVERDUE')).toHaveLength(1);
  });

  it('an action that cannot be recorded is not executed', async () => {
    const own = await organization(drawbridge, []);
    const name = `role-${randomUUID()}`;
    await drawbridge.query(
      `ALTER TABLE audit_records ADD CONSTRAINT full_disk CHECK (organization_id <> '${own.organizationId}') NOT VALID`,
    );
    const answer = await own.admin.post('/roles', { name });
    await drawbridge.query('ALTER TABLE audit_records DROP CONSTRAINT full_disk');
    expect(answer.status).toBe(500);
    expect(await drawbridge.query('SELECT FROM roles WHERE name = $1', [name])).toEqual([]);
  });
});
