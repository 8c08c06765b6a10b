import { group, organization, ownOrganization, type Organization } from '../builders/accounts/organization';
import { ledgerOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** The main function: an address is added soon after the request, and removed on time. */
describe('A session adds an address and removes it again', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, [
    { group: group(0), config: { ports: [22, 5432] } },
    { group: group(1), config: { protocol: 'udp', port: 53 } },
  ]);

  const openFor = async (address: string): Promise<string[]> => {
    const rules = await drawbridge.cloud.rules();
    return rules
      .filter((rule) => rule.address === address)
      .map((rule) => `${rule.target} ${rule.protocol} ${rule.fromPort} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  };

  it('is PENDING, then ACTIVE with both addresses open on every resource, and nothing is open when it was stopped', async () => {
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

    await org.admin.posted(`/sessions/${session.id}/stop`);
    const { resourceIps } = await org.reaches(session.id, 'CANCELLED');
    expect(resourceIps.map(({ stillAllowedBy }) => stillAllowedBy)).toEqual(Array(4).fill(null));
    expect([...(await openFor('203.0.113.1')), ...(await openFor('2001:db8::1'))]).toEqual([]);
  });

  interface Access {
    readonly holderKind: string;
    readonly address: string;
    readonly possibleFrom: string | null;
    readonly certainFrom: string | null;
    readonly certainUntil: string | null;
    readonly possibleUntil: string | null;
  }

  const accessOf = (by: Organization, address: string): Promise<Access[]> =>
    by.admin.expect(
      200,
      by.admin.get<Access[]>(
        `/reports/access?address=${address}&from=${new Date(Date.now() - 60_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`,
      ),
    );

  it('the access report is certain until the removal was sent', async () => {
    const { id } = await org.opened({ ipv4Address: '203.0.113.20' });
    const applied = await drawbridge.query<{ seen: Date }>(
      `SELECT max(observed_at) AS seen FROM rules WHERE address = '203.0.113.20/32'`,
    );
    const seen = applied[0]!.seen.getTime();
    // soon after an addition the target is read beside the removal: here the removal is the later one
    const removals = { kind: 'slow', operation: 'RevokeSecurityGroupIngress', delayMs: 1000 };
    await drawbridge.cloud.fault(removals);
    try {
      await org.closed(id);
    } finally {
      await drawbridge.cloud.clearFaults();
    }
    const access = await accessOf(org, '203.0.113.20');
    expect(access).toHaveLength(3);
    for (const { certainUntil, possibleUntil } of access) {
      // not by what was read when it was added
      expect(Date.parse(certainUntil!)).toBeGreaterThan(seen);
      expect(Date.parse(possibleUntil!)).toBeGreaterThan(Date.parse(certainUntil!));
    }
  });

  it('the access of an active session is certain from the read that showed it', async () => {
    await org.opened({ ipv4Address: '203.0.113.21' });
    const access = await accessOf(org, '203.0.113.21');
    expect(access).toHaveLength(3);
    for (const { certainFrom } of access) expect(certainFrom).not.toBeNull();
  });

  it('what an unmanaged rule still lets in is named by the ended session and by the access report', async () => {
    const other = await organization(drawbridge, [{ group: group(2), config: { port: 22 } }]);
    const rule = { target: group(2), protocol: 'tcp', fromPort: 22, toPort: 22 };
    for (const address of ['203.0.113.22/32', '198.51.100.0/24', '2001:db8:22::/48'])
      await drawbridge.cloud.addUnmanaged({ ...rule, address });
    const endOf = async (body: object): Promise<(string | null)[]> => {
      const { id } = await other.opened(body);
      await other.admin.posted(`/sessions/${id}/stop`);
      const { resourceIps } = await other.reaches(id, 'CANCELLED');
      return resourceIps.map(({ stillAllowedBy }) => stillAllowedBy);
    };

    // the same traffic: the session added nothing, and there was no comparison yet
    expect(await endOf({ ipv4Address: '203.0.113.22' })).toEqual([
      expect.stringMatching(/^sgr-\w+ \(203\.0\.113\.22\/32 tcp 22\)$/),
    ]);
    const [last] = (await ledgerOf(drawbridge, '203.0.113.22')).slice(-1);
    expect(last).toMatchObject({ kind: 'RELEASED', message: 'An unmanaged rule lets it in still' });
    const access = new Map((await accessOf(other, '203.0.113.22')).map((row) => [row.holderKind, row]));
    const [held, unmanaged] = [access.get('SESSION')!, access.get('UNMANAGED')!];
    expect(held.possibleUntil! >= (unmanaged.possibleFrom ?? '')).toBe(true);
    expect(unmanaged.possibleUntil).toBeNull();

    // wider ranges, of both IP versions: the rule of the session is gone
    expect(await endOf({ ipv4Address: '198.51.100.23', ipv6Address: '2001:db8:22::23' })).toEqual([
      expect.stringMatching(/^sgr-\w+ \(198\.51\.100\.0\/24 tcp 22\)$/),
      expect.stringMatching(/^sgr-\w+ \(2001:db8:22::\/48 tcp 22\)$/),
    ]);
    expect((await ledgerOf(drawbridge, '198.51.100.23')).at(-1)).toMatchObject({ kind: 'CLOSED' });
    await other.admin.posted(`/resources/${other.resourceIds[0]}/reconcile`);
    await until('the report of the address has the range', async () =>
      (await accessOf(other, '198.51.100.23')).some(({ address }) => address === '198.51.100.0/24'),
    );

    const session = await other.opened({ ipv4Address: '203.0.113.24' });
    const rules = await other.admin.get<object[]>(`/resources/${other.resourceIds[0]}/rules`);
    expect(rules.body).toMatchObject([
      {
        address: '203.0.113.24/32',
        presence: 'PRESENT',
        isWanted: true,
        isUnmanaged: false,
        holders: [{ kind: 'SESSION', id: session.id, userEmail: other.adminEmail, until: session.expiresAt }],
      },
      { address: '198.51.100.0/24', isWanted: false, isUnmanaged: true, holders: [] },
      { address: '2001:db8:22::/48', isUnmanaged: true },
      { address: '203.0.113.22/32', isUnmanaged: true },
    ]);
  });
});
