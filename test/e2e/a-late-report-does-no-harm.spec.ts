import { guardedHost, hostsOf, type AgentResult, type AgentState } from '../builders/resources/agents';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge, []);

const { served, fresh, startedOn, statusOf } = hostsOf(org);
const stop = (id: string): Promise<unknown> => org.admin.posted(`/sessions/${id}/stop`);

const allOf = (state: AgentState, status: string): AgentResult[] =>
  state.rules.map(({ id }) => ({ ruleId: id, status }));

describe('A late report does no harm', () => {
  it('a report about an older state neither opens nor closes rules of later holders', async () => {
    const { host, agent } = await served();
    const first = await startedOn(host);
    const one = await agent.fetched();
    const appliedOfOne = allOf(one, 'APPLIED');
    await stop(first.id);
    const two = await agent.fetched();
    const removedOfTwo = allOf(one, 'REMOVED');
    await agent.report(two.version, removedOfTwo);
    expect(await statusOf(first.id)).toBe('CANCELLED');

    const second = await startedOn(host, { ipv4Address: first.ipv4Address });
    const three = await agent.fetched();
    expect(three.rules).toHaveLength(1);
    const removedOfThree = allOf(three, 'REMOVED');
    expect(await agent.report(one.version, appliedOfOne)).toMatchObject({
      status: 200,
      body: { version: three.version },
    });
    expect(await statusOf(second.id)).toBe('PENDING');
    await agent.report(three.version, allOf(three, 'APPLIED'));
    expect(await statusOf(second.id)).toBe('ACTIVE');

    await stop(second.id);
    await agent.report(two.version, removedOfThree, { cleared: true });
    expect(await statusOf(second.id)).toBe('EXPIRING');
    await agent.fetched();
    await agent.report(two.version, removedOfThree, { cleared: true });
    expect(await statusOf(second.id)).toBe('EXPIRING');
    await agent.report(agent.state!.version, removedOfThree);
    expect(await statusOf(second.id)).toBe('CANCELLED');
  });

  it('a report that crosses a stop makes nothing ACTIVE again, nor CANCELLED before the agent has the new state', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    const state = await agent.fetched();
    await stop(id);
    for (const status of ['APPLIED', 'REMOVED', 'FAILED']) {
      await agent.report(state.version, allOf(state, status), { cleared: true });
      expect([status, await statusOf(id)]).toEqual([status, 'EXPIRING']);
    }
    await agent.report((await agent.fetched()).version, [], { cleared: true });
    expect(await statusOf(id)).toBe('CANCELLED');
  });

  it('a report that crosses a start does not apply to later holders', async () => {
    const { host, agent } = await served();
    const first = await startedOn(host);
    const state = await agent.fetched();
    const later = await org.started({
      ipv4Address: first.ipv4Address,
      resourceIds: [host.resourceId],
      holder: 'later',
    });
    const other = await startedOn(host);
    await agent.report(state.version, allOf(state, 'APPLIED'));
    expect(await statusOf(later.id)).toBe('PENDING');
    await agent.turn();
    for (const { id } of [first, later, other]) expect(await statusOf(id)).toBe('ACTIVE');
  });

  it('unchanged rules are settled even if others changed', async () => {
    const { host, agent } = await served();
    const steady = await startedOn(host);
    const state = await agent.fetched();
    await startedOn(host);
    const reported = await agent.report(state.version, allOf(state, 'APPLIED'));
    expect(reported.body.version).not.toBe(state.version);
    expect(await statusOf(steady.id)).toBe('ACTIVE');
  });

  it('a repeated report has no effect', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    const state = await agent.fetched();
    const applied = allOf(state, 'APPLIED');
    await Promise.all(Array.from({ length: 5 }, () => agent.report(state.version, applied)));
    expect(await statusOf(id)).toBe('ACTIVE');
    const records = await drawbridge.query(
      `SELECT 1 FROM audit_records WHERE resource_id = $1 AND event_type = 'SESSION_ACTIVATED'`,
      [id],
    );
    expect(records).toHaveLength(1);
  });

  it('an agent can report only for its own host, never for another organization’s', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    const state = await agent.fetched();
    const stranger = await organization(drawbridge, []);
    const namesake = await guardedHost(stranger, host.name);
    const spy = namesake.agent();
    expect((await spy.turn()).rules).toEqual([]);
    const neighbour = (await served()).agent;
    for (const other of [spy, neighbour]) {
      const version = (await other.fetched()).version;
      expect((await other.report(version, allOf(state, 'APPLIED'))).status).toBe(200);
      expect((await other.report(state.version, allOf(state, 'APPLIED'))).status).toBe(200);
    }
    expect(await statusOf(id)).toBe('PENDING');
    await agent.report(state.version, allOf(state, 'APPLIED'));
    expect(await statusOf(id)).toBe('ACTIVE');
    await spy.report((await spy.fetched()).version, allOf(state, 'REMOVED'), { cleared: true });
    expect(await statusOf(id)).toBe('ACTIVE');
  });

  it('many sessions that start and stop concurrently all end as requested', async () => {
    const { host, agent } = await served();
    const serving = agent.serve();
    const shared = fresh();
    const lives = Array.from({ length: 24 }, async (_, index) => {
      const own =
        index % 2 === 0 ? { ipv4Address: fresh() } : { ipv4Address: shared, holder: `job-${index}` };
      const { id } = await org.started({ ...own, resourceIds: [host.resourceId] });
      if (index % 3 === 0) await org.reaches(id, 'ACTIVE');
      if (index % 4 !== 1) await stop(id);
      return org.reaches(id, index % 4 === 1 ? 'ACTIVE' : 'CANCELLED');
    });
    const ended = await Promise.all(lives);
    await serving.stop();
    const left = ended.filter(({ status }) => status === 'ACTIVE');
    expect(left).toHaveLength(6);
    expect((await agent.fetched()).rules.map(({ ipAddress }) => ipAddress)).toEqual([shared]);
  });
});
