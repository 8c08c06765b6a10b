import { group, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Races are decided by the database', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  /** no other organization writes to its group, so that a fault on the group affects its own call */
  const alone = ownOrganization(drawbridge, [{ group: group(1), config: { port: 22 } }]);

  const isOpen = async (address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  it('of many concurrent starts exactly one gets the address, the others get 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => org.start({ ipv4Address: '203.0.113.80' })),
    );
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(11).fill(409),
    ]);
  });

  it('a session stopped while it is being applied leaves no rule', async () => {
    await drawbridge.cloud.fault({
      kind: 'slow',
      target: group(1),
      operation: 'AuthorizeSecurityGroupIngress',
      delayMs: 1500,
      count: 1,
    });
    const { id } = await alone.started({ ipv4Address: '203.0.113.81' });
    await until(
      'the add is on its way',
      async () =>
        (
          await drawbridge.query('SELECT 1 FROM rules WHERE address = $1 AND in_flight_until IS NOT NULL', [
            '203.0.113.81/32',
          ])
        ).length > 0,
    );
    const stopped = await alone.admin.post<{ status: string }>(`/sessions/${id}/stop`);
    expect(stopped.body.status).toBe('EXPIRING');
    await alone.reaches(id, 'CANCELLED');
    expect(await isOpen('203.0.113.81')).toBe(false);
    const events = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === '203.0.113.81');
    expect(events.map((entry) => entry.event)).toEqual(['opened', 'closed']);
  });

  it('a session stopped before any call is CANCELLED without a cloud call', async () => {
    await drawbridge.worker.stop('SIGKILL');
    const { id } = await org.started({ ipv4Address: '203.0.113.82' });
    await org.admin.posted(`/sessions/${id}/stop`);
    await drawbridge.startWorker();
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    const seen = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === '203.0.113.82');
    expect(seen).toEqual([]);
  });

  it('a session extended as it expires is either extended and never closed, or refused and closed', async () => {
    const tries = Array.from({ length: 8 }, (_, index) => ({
      address: `203.0.113.${90 + index}`,
      earlyMs: index * 3 - 9,
    }));
    await Promise.all(tries.map(({ address, earlyMs }) => extendAtTheEnd(address, earlyMs)));
  });

  const extendAtTheEnd = async (address: string, earlyMs: number): Promise<void> => {
    const { id } = await org.started({ ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    await org.expire(id, 900);
    const ends = Date.parse((await org.session(id)).expiresAt);
    await until('it is nearly over', () => Promise.resolve(Date.now() >= ends - earlyMs));
    const extended = await org.admin.post(`/sessions/${id}/extend`, { additionalHours: 1 });
    expect([200, 409]).toContain(extended.status);
    if (extended.status === 409) {
      await org.reaches(id, 'EXPIRED');
      expect(await isOpen(address)).toBe(false);
      return;
    }
    await until('a sweep has begun and ended since', async () => {
      const swept = await drawbridge.query(
        `SELECT FROM sweeper_lease WHERE swept_at > to_timestamp($1) + interval '1 second'`,
        [ends / 1000],
      );
      return swept.length > 0;
    });
    expect((await org.session(id)).status).toBe('ACTIVE');
    const closed = (await drawbridge.cloud.timeline()).filter(
      (entry) => entry.address === address && entry.event === 'closed',
    );
    expect(closed).toEqual([]);
  };

  it('twenty concurrent extensions never exceed the maximum', async () => {
    const session = await org.started({ ipv4Address: '203.0.113.83', durationHours: 1 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        org.admin.post(`/sessions/${session.id}/extend`, { additionalHours: 3 }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(7);
    const { expiresAt, startedAt } = await org.session(session.id);
    expect(Date.parse(expiresAt) - Date.parse(startedAt)).toBe(22 * 3_600_000);
  });

  it('a verification does not apply to a resource that was moved meanwhile', async () => {
    const resource = await org.admin.created<{ id: string }>('/resources', {
      name: 'moving',
      credentialId: org.credentialId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(2),
      region: 'eu-central-1',
      config: { port: 22 },
    });
    const path = `/resources/${resource.id}`;
    await drawbridge.cloud.fault({
      kind: 'slow',
      target: group(2),
      operation: 'DescribeSecurityGroups',
      delayMs: 1500,
      count: 1,
    });
    const calls = async (): Promise<number> =>
      (await drawbridge.cloud.calls()).filter((call) => call.target === group(2)).length;
    const verifying = org.admin.post(`${path}/verify`);
    await until('the cloud is asked', async () => (await calls()) > 0);
    await org.admin.expect(200, org.admin.patch(path, { resourceIdentifier: group(3) }));
    expect((await verifying).status).toBe(200);
    expect((await org.admin.get(path)).body).toMatchObject({
      resourceIdentifier: group(3),
      isActive: false,
      lastVerifiedAt: null,
    });
  });

  it('two workers on one target open every rule once', async () => {
    const other = await drawbridge.startWorker();
    const addresses = Array.from({ length: 30 }, (_, index) => `198.51.100.${index + 1}`);
    const sessions = await Promise.all(addresses.map((ipv4Address) => org.started({ ipv4Address })));
    await Promise.all(sessions.map(({ id }) => org.reaches(id, 'ACTIVE')));
    const opened = (await drawbridge.cloud.timeline()).filter((entry) => addresses.includes(entry.address));
    expect(opened.map((entry) => entry.event)).toEqual(addresses.map(() => 'opened'));
    await other.stop();
  });
});
