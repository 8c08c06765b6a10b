import {
  guardedHost,
  hostResource,
  hostsOf,
  waiting,
  type TestAgent,
  type Traffic,
} from '../builders/resources/agents';
import { auditRecords } from '../builders/audit/audit-trail';
import { organization, ownOrganization } from '../builders/accounts/organization';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

const SSH = { protocol: 'tcp', ports: [22] };
const WEB = { protocol: 'tcp', ports: [443] };

const drawbridge = Drawbridge.shared({ worker: false });
const org = ownOrganization(drawbridge);

const { served } = hostsOf(org);

const release = (id: string, by = org): Promise<Answer<{ message: string }>> =>
  by.admin.delete(`/resources/${id}?releasePorts=true`);
const change = (id: string, body: object): Promise<Answer<{ message: string }>> =>
  org.admin.patch(`/resources/${id}`, body);
const releasedOn = async (agent: TestAgent): Promise<Traffic[]> => (await agent.fetched()).released;

const recordOf = async (eventType: string, resourceId: string): Promise<Record<string, unknown>> => {
  const records = await auditRecords(org.admin, `?eventType=${eventType}&size=100`);
  return records.find((record) => record.resourceId === resourceId)!.details;
};

describe('Ports are released through the API', () => {
  it('with their resource: the waiting agent is told until its guard lacks them, and it is on record', async () => {
    const { host, agent } = await served({ ports: [22, 443] });
    const news = await waiting(drawbridge, agent);
    expect((await release(host.resourceId)).status).toBe(204);
    agent.state = await news.answer;
    const both = [{ protocol: 'tcp', ports: [22, 443] }];
    expect(agent.state).toMatchObject({ guarded: [], released: both });
    expect(await recordOf('RESOURCE_DELETED', host.resourceId)).toMatchObject({ released: both });

    expect(await agent.reportsGuard({ guarded: both })).toBe(agent.state.version);
    expect(await releasedOn(agent)).toEqual(both);
    const { version } = agent.state;
    expect(await agent.reportsGuard({ guarded: [WEB] })).not.toBe(version);
    expect(await releasedOn(agent)).toEqual([WEB]);
    await agent.reportsGuard({});
    expect(await releasedOn(agent)).toEqual([]);
  });

  it('without the option a deleted resource releases nothing', async () => {
    const { host, agent } = await served();
    expect((await org.admin.delete(`/resources/${host.resourceId}`)).status).toBe(204);
    expect(await releasedOn(agent)).toEqual([]);
    expect(await recordOf('RESOURCE_DELETED', host.resourceId)).not.toHaveProperty('released');
  });

  it('except those that another resource of the host names, verified or not', async () => {
    const { host, agent } = await served({ ports: [22, 53, 443] });
    await hostResource(org, host.credentialId, host.name, { port: 22 });
    await hostResource(org, host.credentialId, 'elsewhere', { port: 443 });
    await release(host.resourceId);
    expect(await releasedOn(agent)).toEqual([{ protocol: 'tcp', ports: [53, 443] }]);
  });

  it('that a changed resource no longer names; without a change of ports there is nothing to release', async () => {
    const { host, agent } = await served({});
    const body = { config: { port: 22 }, releasePorts: true };
    expect((await change(host.resourceId, body)).status).toBe(200);
    const whole = [{ protocol: 'tcp', ports: [] }];
    expect(await agent.fetched()).toMatchObject({ guarded: [SSH], released: whole });
    expect(await recordOf('RESOURCE_UPDATED', host.resourceId)).toEqual({
      fields: ['config'],
      released: whole,
    });
    await agent.reportsGuard({ guarded: [SSH] });
    for (const given of [{ releasePorts: true }, { releasePorts: true, name: 'Renamed' }]) {
      expect((await change(host.resourceId, given)).status).toBe(200);
      expect(await releasedOn(agent)).toEqual([]);
    }
  });

  it('on the host that a resource leaves, not on the one it moves to', async () => {
    const { host, agent } = await served();
    const other = await served();
    await change(host.resourceId, { resourceIdentifier: other.host.name, releasePorts: true });
    expect(await releasedOn(agent)).toEqual([SSH]);
    expect(await releasedOn(other.agent)).toEqual([]);
  });

  it.each([
    ['the same port', { port: 22 }],
    ['the whole protocol', {}],
    ['every protocol', { protocol: 'all' }],
  ])('a resource that names %s anew ends the release, also for the time after it', async (_, config) => {
    const { host, agent } = await served();
    await release(host.resourceId);
    expect(await releasedOn(agent)).toEqual([SSH]);
    const anew = await hostResource(org, host.credentialId, host.name, config);
    expect(await releasedOn(agent)).toEqual([]);
    expect((await org.admin.delete(`/resources/${anew}`)).status).toBe(204);
    expect(await releasedOn(agent)).toEqual([]);
  });

  it('a resource that is edited to name the port, or moved onto the host, ends the release', async () => {
    const { host, agent } = await served();
    const edited = await hostResource(org, host.credentialId, host.name, { port: 443 });
    await release(host.resourceId);
    await change(edited, { config: { port: 22 } });
    expect(await releasedOn(agent)).toEqual([]);
    const moved = await served();
    await change(edited, { config: { port: 443 }, releasePorts: true });
    expect(await releasedOn(agent)).toEqual([SSH]);
    await change(moved.host.resourceId, { resourceIdentifier: host.name });
    expect(await releasedOn(agent)).toEqual([]);
  });

  it('a late report on an earlier state does not end a release', async () => {
    const { host, agent } = await served();
    const { version } = agent.state!;
    await release(host.resourceId);
    const late = { guarded: [], waiting: [], leftAlone: [], refused: [], connections: [] };
    expect((await agent.report(version, [], { guard: late })).status).toBe(200);
    expect(await releasedOn(agent)).toEqual([SSH]);
  });

  it('an agent that reports no guard is told until it does', async () => {
    const { host, agent } = await served();
    await release(host.resourceId);
    await agent.turn();
    await agent.turn();
    expect(await releasedOn(agent)).toEqual([SSH]);
  });

  it('of the organization’s own host only', async () => {
    const { host, agent } = await served();
    const stranger = await organization(drawbridge, []);
    const namesake = await guardedHost(stranger, host.name);
    await namesake.guardedBy(namesake.agent());
    expect((await release(host.resourceId, stranger)).status).toBe(404);
    expect((await release(namesake.resourceId, stranger)).status).toBe(204);
    expect(await agent.fetched()).toMatchObject({ guarded: [SSH], released: [] });
  });

  it('not while the organization is suspended; it may still delete', async () => {
    const own = await organization(drawbridge, []);
    const { host, agent } = await served({}, { of: own });
    await own.suspend();
    expect((await release(host.resourceId, own)).status).toBe(403);
    expect((await own.admin.delete(`/resources/${host.resourceId}`)).status).toBe(204);
    expect(await releasedOn(agent)).toEqual([]);
  });

  it('only of hosts with an agent', async () => {
    const [group] = org.resourceIds;
    const message =
      'releasePorts applies to resources of the provider AGENT only, and this one is of AWS: leave it out';
    for (const refused of [release(group!), change(group!, { releasePorts: true })]) {
      expect(await refused).toMatchObject({
        status: 400,
        body: { message },
      });
    }
    expect((await org.admin.delete(`/resources/${group}?releasePorts=maybe`)).status).toBe(400);
    expect((await change(group!, { releasePorts: false, name: 'Renamed' })).status).toBe(200);
  });

  it('at most 1,000 at once', async () => {
    const { host, agent } = await served();
    const ports = Array.from({ length: 1000 }, (_, index) => 1000 + index);
    await drawbridge.query('UPDATE agents SET pending_release = $2 WHERE name = $1', [
      host.name,
      JSON.stringify([{ protocol: 'tcp', ports }]),
    ]);
    const { status, body } = await release(host.resourceId);
    expect([status, body?.message]).toEqual([
      400,
      expect.stringMatching(/^releasePorts .+ wait for its agent/) as string,
    ]);
    expect((await agent.fetched()).guarded).toEqual([SSH]);
  });

  it('of two resources deleted at once, the one that goes last releases what both named', async () => {
    const { host, agent } = await served();
    for (let port = 1000; port < 1012; port += 1) {
      const pair = await Promise.all([
        hostResource(org, host.credentialId, host.name, { port }),
        hostResource(org, host.credentialId, host.name, { port }),
      ]);
      expect((await Promise.all(pair.map((id) => release(id)))).map(({ status }) => status)).toEqual([
        204, 204,
      ]);
    }
    const ports = Array.from({ length: 12 }, (_, index) => 1000 + index);
    expect(await releasedOn(agent)).toEqual([{ protocol: 'tcp', ports }]);
  });

  it('a resource that is created while another one releases the same port keeps it', async () => {
    const { host, agent } = await served();
    for (let port = 2000; port < 2012; port += 1) {
      const old = await hostResource(org, host.credentialId, host.name, { port });
      const [, anew] = await Promise.all([
        release(old),
        hostResource(org, host.credentialId, host.name, { port }),
      ]);
      expect([port, await releasedOn(agent)]).toEqual([port, []]);
      await org.admin.expect(204, org.admin.delete(`/resources/${anew}`));
    }
  });
});
