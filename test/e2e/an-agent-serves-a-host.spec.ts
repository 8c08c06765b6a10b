import { setTimeout as pause } from 'node:timers/promises';
import { early, hostsOf, waiting } from '../builders/resources/agents';
import { ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge, []);
const { served, startedOn, statusOf } = hostsOf(org);

const stop = (id: string): Promise<unknown> => org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));

describe('An agent serves a host', () => {
  it('receives the whole state and reports, and the session becomes ACTIVE, EXPIRING, CANCELLED', async () => {
    const { host, agent } = await served({ ports: [443, 22], protocol: 'tcp' });
    const session = await startedOn(host, { durationHours: 1 });
    expect(session.status).toBe('PENDING');

    const state = await agent.fetched();
    const receivedAt = Date.now();
    expect(state.guarded).toEqual([{ protocol: 'tcp', ports: [22, 443] }]);
    expect(state.rules).toEqual([
      {
        id: expect.any(String) as string,
        ipAddress: session.ipv4Address,
        protocol: 'tcp',
        ports: [22, 443],
        secondsLeft: expect.any(Number) as number,
        unconfirmed: true,
        maxSilenceSeconds: 600,
        holders: [{ sessionId: session.id, user: org.adminEmail, label: null }],
      },
    ]);
    const [rule] = state.rules;
    // read after the server's time and before the answer was here, each rounded to milliseconds
    const leftAt = (ms: number): number => (Date.parse(session.expiresAt) - ms) / 1000;
    expect(rule!.secondsLeft).toBeLessThanOrEqual(leftAt(Date.parse(state.serverTime)) + 0.002);
    expect(rule!.secondsLeft).toBeGreaterThanOrEqual(leftAt(receivedAt) - 0.002);
    expect(await statusOf(session.id)).toBe('PENDING');

    const applied = [{ ruleId: rule!.id, status: 'APPLIED' }];
    expect(await agent.report(state.version, applied)).toMatchObject({
      status: 200,
      body: { version: state.version },
    });
    const active = await org.session(session.id);
    expect(active).toMatchObject({
      status: 'ACTIVE',
      resourceIps: [{ status: 'APPLIED', providerRuleId: rule!.id }],
    });
    expect(await agent.fetched()).toMatchObject({ version: state.version, rules: [{ unconfirmed: false }] });

    await stop(session.id);
    const emptied = await agent.fetched();
    expect(emptied.version).not.toBe(state.version);
    expect(emptied.rules).toEqual([]);
    expect(await statusOf(session.id)).toBe('EXPIRING');
    await agent.report(emptied.version, [{ ruleId: rule!.id, status: 'REMOVED' }]);
    expect(await org.session(session.id)).toMatchObject({
      status: 'CANCELLED',
      resourceIps: [{ status: 'REMOVED' }],
    });
  });

  it('a waiting agent is answered at once when a session starts, and when it stops', async () => {
    const { host, agent } = await served();
    const news = await waiting(drawbridge, agent);
    const session = await startedOn(host);
    const state = await early(news);
    expect(state.rules).toMatchObject([{ ipAddress: session.ipv4Address }]);
    agent.state = state;

    const end = await waiting(drawbridge, agent);
    await stop(session.id);
    expect((await early(end)).rules).toEqual([]);
  });

  it('without a change, the wait ends with the same version', async () => {
    const { agent } = await served();
    const { version } = agent.state!;
    const hasWaited = pause(950).then(() => true);
    const asked = agent.ask({ version, waitSeconds: 1 });
    expect(await Promise.race([hasWaited, asked])).toBe(true);
    const { body } = await asked;
    expect(body.version).toBe(version);
  });

  it('another version than the current one is answered at once, without a wait', async () => {
    const { agent } = await served();
    const { status, body } = await agent.ask({ version: 'something else', waitSeconds: 30 });
    expect([status, body.version]).toEqual([200, agent.state!.version]);
  });

  it('a session leaves the state at its end, and is EXPIRED once its agent reports it', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.turn();
    expect(await statusOf(id)).toBe('ACTIVE');
    await org.expire(id);
    await org.reaches(id, 'EXPIRING');
    expect((await agent.turn(30)).rules).toEqual([]);
    expect(await org.session(id)).toMatchObject({ status: 'EXPIRED', endedReason: 'EXPIRED' });
  });

  it('an extended session is sent with its new end to a waiting agent', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host, { durationHours: 1 });
    const before = (await agent.turn()).version;
    const news = await waiting(drawbridge, agent);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/extend`, { additionalHours: 2 }));
    const state = await early(news);
    expect(state.version).not.toBe(before);
    expect(state.rules[0]!.secondsLeft).toBeGreaterThan(2 * 3600);
    expect(await statusOf(id)).toBe('ACTIVE');
  });

  it('a session that shares the rule is ACTIVE when the agent has reported it, and the rule stays until both end', async () => {
    const { host, agent } = await served();
    const first = await startedOn(host, { holder: 'a' });
    const alone = await agent.turn();
    const second = await startedOn(host, { ipv4Address: first.ipv4Address, holder: 'b', durationHours: 2 });
    expect(await statusOf(second.id)).toBe('PENDING');
    const both = await agent.turn();
    expect(both.version).not.toBe(alone.version);
    expect(both.rules.map(({ id }) => id)).toEqual(alone.rules.map(({ id }) => id));
    expect(await statusOf(second.id)).toBe('ACTIVE');
    await org.closed(first.id);
    expect((await agent.turn()).rules).toHaveLength(1);
    await stop(second.id);
    expect((await agent.turn()).rules).toEqual([]);
    expect(await statusOf(second.id)).toBe('CANCELLED');
  });

  it('static rules have the end that is given or none, and their ranges are sent as ranges', async () => {
    const { host, agent } = await served();
    const rule = { label: 'office', ipAddress: '198.51.100.0/24', resourceIds: [host.resourceId] };
    const { id } = await org.admin.expect(201, org.admin.post<{ id: string }>('/static-ip-rules', rule));
    const state = await agent.turn();
    expect(state.rules).toMatchObject([{ ipAddress: '198.51.100.0/24', secondsLeft: null }]);
    const found = (): Promise<{ status: string }> =>
      org.admin.expect(200, org.admin.get<{ status: string }>(`/static-ip-rules/${id}`));
    expect((await found()).status).toBe('ACTIVE');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await org.admin.expect(200, org.admin.patch(`/static-ip-rules/${id}`, { expiresAt }));
    const [ending] = (await agent.turn()).rules;
    expect(ending).toMatchObject({ secondsLeft: expect.any(Number) as number, maxSilenceSeconds: null });
    expect((await org.admin.delete(`/static-ip-rules/${id}`)).status).toBe(204);
    expect((await agent.turn()).rules).toEqual([]);
  });

  it('IPv6 is supported; single addresses of both families are sent without a prefix length', async () => {
    const { host, agent } = await served();
    await startedOn(host, { ipv6Address: '2001:db8::7' });
    const addressesTold = (await agent.turn()).rules.map(({ ipAddress }) => ipAddress);
    expect(addressesTold).toContain('2001:db8::7');
    expect(addressesTold.filter((address) => address.includes('/'))).toEqual([]);
  });

  it('a refused rule is FAILED with the agent’s message', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    const { version, rules } = await agent.fetched();
    const refused = { ruleId: rules[0]!.id, status: 'FAILED', errorMessage: 'nft: Operation not permitted' };
    await agent.report(version, [refused]);
    expect(await org.session(id)).toMatchObject({
      status: 'FAILED',
      resourceIps: [{ status: 'FAILED', errorMessage: 'nft: Operation not permitted' }],
    });
    expect((await agent.fetched()).rules).toEqual([]);
  });

  it('a session stopped before it was sent to its agent is CANCELLED without the agent', async () => {
    const { host } = await served();
    const { id } = await startedOn(host);
    expect((await org.closed(id)).resourceIps).toMatchObject([{ status: 'REMOVED' }]);
  });

  it('a session that was sent and not reported waits for the agent, even if the agent no longer knows the rule', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.fetched();
    await stop(id);
    const { version } = await agent.fetched();
    await agent.report(version, []);
    expect(await statusOf(id)).toBe('EXPIRING');
    await agent.report(version, [], { cleared: true });
    expect(await statusOf(id)).toBe('CANCELLED');
  });

  it('a resource without ports guards the whole protocol', async () => {
    const { agent } = await served({});
    expect(agent.state!.guarded).toEqual([{ protocol: 'tcp', ports: [] }]);
  });

  it('a resource that moves to another host moves its rules', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.turn();
    const other = await served();
    const moved = { resourceIdentifier: other.host.name };
    await org.admin.expect(200, org.admin.patch(`/resources/${host.resourceId}`, moved));
    expect((await agent.turn()).rules).toEqual([]);
    expect((await other.agent.turn()).rules).toHaveLength(1);
    await org.reaches(id, 'ACTIVE');
  });
});
