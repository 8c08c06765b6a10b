import { group, organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

/** The main function: an address is added soon after the request, and removed on time. */
describe('A session adds an address and removes it again', () => {
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
    org = await organization(drawbridge, [
      { group: group(0), config: { ports: [22, 5432] } },
      { group: group(1), config: { protocol: 'udp', port: 53 } },
    ]);
  });
  afterAll(() => drawbridge.stop());

  const openFor = async (address: string): Promise<string[]> => {
    const rules = await drawbridge.cloud.rules();
    return rules
      .filter((rule) => rule.address === address)
      .map((rule) => `${rule.target} ${rule.protocol} ${rule.fromPort} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  };

  it('a started session is PENDING, then ACTIVE with both addresses open on every resource', async () => {
    const session = await org.started({
      ipv4Address: '203.0.113.1',
      ipv6Address: '2001:DB8:0::1',
      durationHours: 2,
    });
    expect(session).toMatchObject({
      status: 'PENDING',
      ipv4Address: '203.0.113.1',
      ipv6Address: '2001:db8::1',
      endedAt: null,
      endedReason: null,
    });
    expect(session.resourceIps.map((ip) => ip.status)).toEqual(Array(4).fill('PENDING'));
    expect(Date.parse(session.expiresAt) - Date.parse(session.startedAt)).toBe(2 * 3_600_000);

    const active = await org.reaches(session.id, 'ACTIVE');
    expect(active.resourceIps.every((ip) => ip.status === 'APPLIED' && ip.appliedAt !== null)).toBe(true);
    expect(
      active.resourceIps.every((ip) => /^sgr-[0-9a-f]{17}(,sgr-[0-9a-f]{17})*$/.test(ip.providerRuleId!)),
    ).toBe(true);
    const opened = [`${group(0)} tcp 22 ours`, `${group(0)} tcp 5432 ours`, `${group(1)} udp 53 ours`];
    expect(await openFor('203.0.113.1')).toEqual(opened);
    expect(await openFor('2001:db8::1')).toEqual(opened);
  });

  it('a session stopped by its owner is EXPIRING, then CANCELLED with nothing open', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.2' });
    await org.reaches(id, 'ACTIVE');
    const stopped = await org.admin.post<{ status: string }>(`/sessions/${id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { id, status: 'EXPIRING', endedReason: 'MANUAL' } });
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.endedAt).not.toBeNull();
    expect(ended.resourceIps.every((ip) => ip.status === 'REMOVED' && ip.removedAt !== null)).toBe(true);
    expect(await openFor('203.0.113.2')).toEqual([]);
  });

  it('the access report is certain until the removal was sent', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.20' });
    await org.reaches(id, 'ACTIVE');
    const [clock] = await drawbridge.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const stoppedAt = clock!.now.getTime();
    // soon after an addition the target is read beside the removal: here the removal is the later one
    const removals = { kind: 'slow', operation: 'RevokeSecurityGroupIngress', delayMs: 1000 };
    await drawbridge.cloud.fault(removals);
    try {
      await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
      await org.reaches(id, 'CANCELLED');
    } finally {
      await drawbridge.cloud.clearFaults();
    }
    const window = `from=${new Date(stoppedAt - 60_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
    const { body } = await org.admin.get<{ certainUntil: string; possibleUntil: string }[]>(
      `/reports/access?address=203.0.113.20&${window}`,
    );
    expect(body).toHaveLength(3);
    for (const { certainUntil, possibleUntil } of body) {
      expect(Date.parse(certainUntil)).toBeGreaterThanOrEqual(stoppedAt);
      expect(Date.parse(possibleUntil)).toBeGreaterThan(Date.parse(certainUntil));
    }
  });

  it('a session stopped by an admin is CANCELLED with the reason ADMIN', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.3' });
    await org.reaches(id, 'ACTIVE');
    const stopped = await org.admin.post(`/sessions/admin/${id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { status: 'EXPIRING', endedReason: 'ADMIN' } });
    await org.reaches(id, 'CANCELLED');
    expect(await openFor('203.0.113.3')).toEqual([]);
  });

  it('a session is EXPIRED within about a second of its end', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.4' });
    await org.reaches(id, 'ACTIVE');
    await org.expire(id);
    const expired = await org.reaches(id, 'EXPIRED', 8000);
    expect(expired.endedReason).toBe('EXPIRED');
    expect(await openFor('203.0.113.4')).toEqual([]);
  });

  it('an extended session ends later, and never beyond the maximum', async () => {
    const session = await org.started({ ipv4Address: '203.0.113.5', durationHours: 1 });
    const extended = await org.admin.post<{ expiresAt: string }>(`/sessions/${session.id}/extend`, {
      additionalHours: 2,
    });
    expect(extended.status).toBe(200);
    expect(Date.parse(extended.body.expiresAt) - Date.parse(session.expiresAt)).toBe(2 * 3_600_000);
    const beyond = await org.admin.post<{ message: string }>(`/sessions/${session.id}/extend`, {
      additionalHours: 22,
    });
    expect(beyond.status).toBe(400);
    expect(beyond.body.message).toContain('24 hours');
    await org.admin.expect(200, org.admin.post(`/sessions/${session.id}/stop`));
    await org.reaches(session.id, 'CANCELLED');
    expect((await org.admin.post(`/sessions/${session.id}/extend`, { additionalHours: 1 })).status).toBe(409);
    expect((await org.admin.post(`/sessions/${session.id}/stop`)).status).toBe(400);
  });

  it('a key with sessions:write starts and stops, one with sessions:read only reads', async () => {
    const writer = await org.apiKey(['sessions:write']);
    const started = await writer.post<{ id: string; status: string }>('/sessions', {
      ipv4Address: '203.0.113.6',
    });
    expect(started).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    const { id } = started.body;
    expect(await writer.get(`/sessions/${id}`)).toMatchObject({
      status: 403,
      body: {
        error: 'Insufficient permissions',
        message: 'API key does not have required scope: sessions:read',
      },
    });
    const reader = await org.apiKey(['sessions:read']);
    await until('the pipeline sees ACTIVE', async () => {
      const { body } = await reader.get<{ status: string }>(`/sessions/${id}`);
      return body.status === 'ACTIVE';
    });
    expect((await writer.post(`/sessions/${id}/stop`)).status).toBe(200);
    await org.reaches(id, 'CANCELLED');
    expect(await openFor('203.0.113.6')).toEqual([]);
  });

  it('a second live session of a user on an address is refused, naming the first', async () => {
    const first = await org.started({ ipv4Address: '203.0.113.7' });
    const second = await org.start({ ipv4Address: '203.0.113.7' });
    expect(second.status).toBe(409);
    expect(JSON.stringify(second.body)).toContain(first.id);
    const parallel = await org.start({ ipv4Address: '203.0.113.7', holder: 'job-2' });
    expect(parallel.status).toBe(200);
  });

  it('the audit trail contains all events in order', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.8' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED');
    const records = await drawbridge.query<{ event_type: string; actor_type: string }>(
      'SELECT event_type, actor_type FROM audit_records WHERE resource_id = $1 ORDER BY sequence',
      [id],
    );
    expect(records.map((record) => `${record.actor_type} ${record.event_type}`)).toEqual([
      'USER SESSION_STARTED',
      'SYSTEM SESSION_ACTIVATED',
      'USER SESSION_STOPPED',
      'SYSTEM SESSION_CANCELLED',
    ]);
    await expect(drawbridge.query(`DELETE FROM audit_records WHERE resource_id = $1`, [id])).rejects.toThrow(
      'append-only',
    );
  });
});
