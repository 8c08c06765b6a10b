import {
  hostResource,
  hostsOf,
  lastHeardOf,
  type GuardedHost,
  type ReportedGuard,
  type Traffic,
} from '../builders/resources/agents';
import { auditRecords, type AuditRecord } from '../builders/audit/audit-trail';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { healthOf, type HealthRow } from '../builders/sessions/rule-ledger';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const tcp = (...ports: number[]): Traffic => ({ protocol: 'tcp', ports });
const udp = (...ports: number[]): Traffic => ({ protocol: 'udp', ports });
const STRANGER = { address: '198.51.100.7', protocol: 'tcp', port: 22 };
const NOTHING = { guarded: [], waiting: [], leftAlone: [], refused: [], connections: [] };
const guard = (more: object): object => ({ guard: { ...NOTHING, ...more } });

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge);

const { newHost, ...hosts } = hostsOf(org);
const served = (config?: object): ReturnType<typeof hosts.served> =>
  hosts.served(config, { instance: 'first' });

interface ResourceGuard extends Omit<ReportedGuard, 'connections'> {
  readonly agent: string;
  readonly reportedAt: string | null;
  readonly notGuarded: Traffic[];
  readonly wouldCut: ReportedGuard['connections'];
}

const guardOf = (id: string, by = org): Promise<Answer<ResourceGuard>> =>
  by.admin.get(`/resources/${id}/guard`);

const changesOf = async ({ name }: GuardedHost): Promise<AuditRecord[]> =>
  (await auditRecords(org.admin, '?eventType=AGENT_GUARD_CHANGED&size=100')).filter(
    ({ resourceName }) => resourceName === name,
  );

describe('A host says what it guards', () => {
  it('a change is one record with what was added and removed; an unchanged report writes nothing', async () => {
    const { host, agent } = await served();
    const first = { guarded: [tcp(443, 22), udp(53)], waiting: [tcp(80)], connections: [STRANGER] };
    await agent.reportsGuard(first);
    const row = (): Promise<object[]> =>
      drawbridge.query('SELECT guard, guard_reported_at, pending_release FROM agents WHERE name = $1', [
        host.name,
      ]);
    const stored = await row();
    await agent.reportsGuard(first);
    await agent.reportsGuard({ ...first, guarded: [udp(53), tcp(22), tcp(443)] });
    expect(await row()).toEqual(stored);
    const refused = [{ ...tcp(25), reason: 'mail stays open' }];
    await agent.reportsGuard({ guarded: [tcp(22, 443, 80)], refused });
    await agent.reportsGuard({ guarded: [tcp(22, 443, 80)], refused, connections: [STRANGER] });
    expect((await changesOf(host)).map(({ details }) => details)).toEqual([
      { added: { guarded: [tcp(80)], refused }, removed: { guarded: [udp(53)], waiting: [tcp(80)] } },
      { added: { guarded: [tcp(22, 443), udp(53)], waiting: [tcp(80)] }, removed: {} },
    ]);
    expect((await changesOf(host))[0]).toMatchObject({
      actorType: 'AGENT',
      resourceType: 'AGENT',
      result: 'SUCCESS',
      ipAddress: '127.0.0.1',
    });
  });

  it('concurrent reports of one guard are one record', async () => {
    const { host, agent } = await served();
    // one is served and one waits; an API refuses more
    await Promise.all(Array.from({ length: 2 }, () => agent.reportsGuard({ guarded: [tcp(22)] })));
    expect(await changesOf(host)).toHaveLength(1);
  });

  it('whatever the version of the report; another installation begins without a guard', async () => {
    const { host, agent } = await served();
    await agent.report('long ago', [], { guard: { ...NOTHING, guarded: [tcp(22)] } });
    expect((await guardOf(host.resourceId)).body.guarded).toEqual([tcp(22)]);
    await agent.report('long ago', [], { guard: null });
    expect((await guardOf(host.resourceId)).body.guarded).toEqual([tcp(22)]);
    expect((await host.agent('second').report('', [], { guard: NOTHING })).status).toBe(409);
    expect((await guardOf(host.resourceId)).body.guarded).toEqual([tcp(22)]);
    await lastHeardOf(drawbridge, host.name, 61);
    await host.agent('second').fetched();
    expect((await guardOf(host.resourceId)).body).toMatchObject({ reportedAt: null, guarded: [] });
  });

  it.each<[string, string, object]>([
    ['guard', 'no object', { guard: 'tcp' }],
    ['guard.waiting', 'missing', guard({ waiting: undefined })],
    ['guard.guarded', 'too many entries', guard({ guarded: Array.from({ length: 9 }, () => tcp(1)) })],
    ['guard.guarded.0.ports', 'too many ports', guard({ guarded: [tcp(...Array<number>(1001).fill(1))] })],
    ['guard.guarded.0.ports', 'port 0', guard({ guarded: [tcp(0)] })],
    ['guard.leftAlone.0.ports', 'ports of icmp', guard({ leftAlone: [{ protocol: 'icmp', ports: [1] }] })],
    [
      'guard.guarded.0.protocol',
      'an unknown protocol',
      guard({ guarded: [{ protocol: 'sctp', ports: [] }] }),
    ],
    [
      'guard.refused',
      'too many refusals',
      guard({ refused: Array.from({ length: 21 }, () => ({ ...tcp(1), reason: 'x' })) }),
    ],
    ['guard.refused.0.reason', 'a long reason', guard({ refused: [{ ...tcp(1), reason: 'x'.repeat(301) }] })],
    [
      'guard.connections',
      'too many connections',
      guard({ connections: Array.from({ length: 51 }, () => STRANGER) }),
    ],
    [
      'guard.connections.0.address',
      'no address',
      guard({ connections: [{ ...STRANGER, address: 'fe80::1%eth0' }] }),
    ],
    [
      'guard.otherChains',
      'too many chains',
      guard({ otherChains: Array.from({ length: 21 }, (_, n) => `inet t${n} input`) }),
    ],
    ['guard.otherChains', 'a long name', guard({ otherChains: ['x'.repeat(201)] })],
    ['guard.otherChains', 'a hidden character', guard({ otherChains: ['inet \u001b[2J'] })],
  ])('400 names %s: %s', async (field, _, more) => {
    const { agent } = await served();
    const { status, body } = await agent.report(agent.state!.version, [], more);
    const { validationErrors } = body as unknown as { validationErrors: object };
    expect([status, Object.keys(validationErrors)]).toEqual([400, [field]]);
  });
});

describe('What a resource’s host guards', () => {
  it('is restricted to the resource’s own traffic', async () => {
    const { host, agent } = await served({ ports: [22, 25, 80, 443, 8080] });
    const other = await hostResource(org, host.credentialId, host.name, {});
    const connections = [STRANGER, { ...STRANGER, port: 81 }, { ...STRANGER, protocol: 'udp' }];
    await agent.reportsGuard({
      guarded: [tcp(22, 23)],
      waiting: [tcp(80, 81)],
      leftAlone: [tcp(443), udp()],
      refused: [{ ...tcp(25, 26), reason: 'mail stays open' }],
      connections,
    });
    expect((await guardOf(host.resourceId)).body).toEqual({
      agent: host.name,
      reportedAt: expect.stringMatching(/Z$/) as string,
      guarded: [tcp(22)],
      notGuarded: [tcp(25, 80, 443, 8080)],
      waiting: [tcp(80)],
      leftAlone: [tcp(443)],
      refused: [{ ...tcp(25), reason: 'mail stays open' }],
      wouldCut: [STRANGER],
    });
    expect((await guardOf(other)).body).toMatchObject({
      guarded: [tcp(22, 23)],
      notGuarded: [tcp()],
      waiting: [tcp(80, 81)],
      wouldCut: [STRANGER, { ...STRANGER, port: 81 }],
    });
  });

  it('is named with the chains of other programs that may drop what it lets in when it is verified', async () => {
    const { host, agent } = await served();
    const verified = async (): Promise<string[]> =>
      (await org.admin.posted<{ warnings: string[] }>(`/resources/${host.resourceId}/verify`)).warnings;
    expect(await verified()).toEqual([]);
    await agent.reportsGuard({ otherChains: ['ip filter INPUT', 'inet f2b input'] });
    const warnings = [
      'Addresses of sessions may be blocked by the nftables chain inet f2b input, the nftables chain ip filter INPUT',
    ];
    expect(await verified()).toEqual(warnings);
    expect(await changesOf(host)).toEqual([]);
  });

  it('says before the first verification what a guard would cut', async () => {
    const host = await newHost();
    const agent = host.agent();
    await agent.turn();
    expect((await guardOf(host.resourceId)).body).toEqual({
      agent: host.name,
      reportedAt: null,
      guarded: [],
      notGuarded: [],
      waiting: [],
      leftAlone: [],
      refused: [],
      wouldCut: [],
    });
    await agent.reportsGuard({ connections: [STRANGER] });
    expect((await guardOf(host.resourceId)).body).toMatchObject({
      notGuarded: [tcp(22)],
      wouldCut: [STRANGER],
    });
  });

  it('is for the administrators of its own organization, and of hosts with an agent', async () => {
    const { host } = await served();
    const stranger = await organization(drawbridge, []);
    expect((await guardOf(host.resourceId, stranger)).status).toBe(404);
    expect((await guardOf(org.resourceIds[0]!)).status).toBe(400);
  });
});

describe('Traffic of a verified resource that the host does not guard', () => {
  const newestOf = async (resourceId: string): Promise<HealthRow | undefined> =>
    (await healthOf(drawbridge, resourceId)).at(-1);

  /** Waits for the newest health event of the resource. */
  const tells = (resourceId: string, eventType: string, words = ''): Promise<HealthRow> =>
    until(`${eventType} ${words}`, async () => {
      const newest = await newestOf(resourceId);
      return newest?.eventType === eventType && (newest.message ?? '').includes(words) && newest;
    });

  it('is a health event that says why and what to do, until it is guarded', async () => {
    const { host, agent } = await served();
    const { resourceId } = host;
    const confirm = `POST /resources/${resourceId}/confirm-guard`;
    await agent.reportsGuard({ waiting: [tcp(22)], connections: [STRANGER] });
    const { message } = await tells(resourceId, 'RECONCILE_FAILED', 'waits for a confirmation');
    expect(message).toContain('tcp 22 is not guarded yet');
    expect(message).toContain('drawbridge-agent confirm');
    expect(message).toContain(confirm);
    await agent.reportsGuard({ leftAlone: [tcp(22)], connections: [STRANGER] });
    expect((await tells(resourceId, 'RECONCILE_FAILED', 'stays open')).message).toContain(confirm);
    await agent.reportsGuard({ refused: [{ ...tcp(22), reason: 'port 22 is never guarded' }] });
    await tells(resourceId, 'RECONCILE_FAILED', '(port 22 is never guarded)');
    await agent.reportsGuard({ guarded: [tcp(22)] });
    await tells(resourceId, 'RECONCILE_OK', 'In order again');
  });

  it('concerns no other resource of the host, and none that was never verified', async () => {
    const { host, agent } = await served();
    const proposed = await hostResource(org, host.credentialId, host.name, { port: 80 });
    const guarded = await hostResource(org, host.credentialId, host.name, { port: 443 });
    await org.admin.posted(`/resources/${guarded}/verify`);
    await agent.turn();
    await agent.reportsGuard({ guarded: [tcp(443)], leftAlone: [tcp(22, 80)] });
    await tells(host.resourceId, 'RECONCILE_FAILED', 'tcp 22 is not guarded');
    expect((await newestOf(proposed))?.eventType).not.toBe('RECONCILE_FAILED');
    expect((await newestOf(guarded))?.eventType).not.toBe('RECONCILE_FAILED');
  });

  it('is none of an agent that does not report its guard', async () => {
    const { host, agent } = await served();
    await agent.turn();
    const { resourceId } = host;
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    expect((await tells(resourceId, 'RECONCILE_OK')).message).toBeNull();
  });
});
