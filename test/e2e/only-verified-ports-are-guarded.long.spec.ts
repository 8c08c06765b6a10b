import {
  early,
  guardedHost,
  hostResource,
  hostsOf,
  lastHeardOf,
  waiting,
  type GuardedHost,
  type TestAgent,
} from '../builders/resources/agents';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const SSH = { protocol: 'tcp', ports: [22] };
const WEB = { protocol: 'tcp', ports: [443] };

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge);

const { newHost, served: verifiedHost } = hostsOf(org);

/** A host with a resource that was never verified, and its agent. */
async function proposedHost(): Promise<{ host: GuardedHost; agent: TestAgent }> {
  const host = await newHost();
  const agent = host.agent();
  await agent.turn();
  return { host, agent };
}

const change = (id: string, body: object): Promise<unknown> =>
  org.admin.expect(200, org.admin.patch(`/resources/${id}`, body));
const verify = (id: string): Promise<unknown> => org.admin.posted(`/resources/${id}/verify`);

describe('Only ports that were verified once are guarded', () => {
  it('a new resource proposes its ports, and a waiting agent guards them at once when it is verified', async () => {
    const { host, agent } = await proposedHost();
    expect(agent.state).toMatchObject({ guarded: [], proposed: [SSH], confirmed: [], released: [] });
    const news = await waiting(drawbridge, agent);
    expect((await host.verify()).status).toBe(200);
    expect(await early(news)).toMatchObject({ guarded: [SSH], proposed: [] });
  });

  it('a failed verification guards nothing, and does not end a guard', async () => {
    const { host, agent } = await proposedHost();
    await lastHeardOf(drawbridge, host.name, 75);
    expect((await host.verify()).status).toBe(400);
    expect(await agent.fetched()).toMatchObject({ guarded: [], proposed: [SSH] });
    await host.guardedBy(agent);
    await lastHeardOf(drawbridge, host.name, 75);
    expect((await host.verify()).status).toBe(400);
    expect(await agent.fetched()).toMatchObject({ guarded: [SSH], proposed: [] });
  });

  it('a resource that is switched off keeps its guard, and a port added to a verified one is guarded', async () => {
    const { host, agent } = await verifiedHost();
    await change(host.resourceId, { isActive: false, config: { ports: [22, 443] } });
    expect(await agent.fetched()).toMatchObject({
      guarded: [{ protocol: 'tcp', ports: [22, 443] }],
      proposed: [],
    });
  });

  it('another resource of the host proposes only what is not guarded anyway', async () => {
    const { host, agent } = await verifiedHost();
    const other = await hostResource(org, host.credentialId, host.name, { ports: [22, 443] });
    expect(await agent.fetched()).toMatchObject({ guarded: [SSH], proposed: [WEB] });
    expect((await org.admin.delete(`/resources/${other}`)).status).toBe(204);
    expect(await agent.fetched()).toMatchObject({ guarded: [SSH], proposed: [] });
    await hostResource(org, host.credentialId, host.name, { protocol: 'all' });
    expect(await agent.fetched()).toMatchObject({
      guarded: [SSH],
      proposed: [{ protocol: 'all', ports: [] }],
    });
  });

  it('a resource that moves to another host is verified there before its ports are guarded', async () => {
    const { host, agent } = await verifiedHost({ port: 443 });
    const other = await verifiedHost();
    await change(host.resourceId, { resourceIdentifier: host.name.toUpperCase() });
    expect((await agent.fetched()).guarded).toEqual([WEB]);
    await lastHeardOf(drawbridge, other.host.name, 75);
    await change(host.resourceId, { resourceIdentifier: other.host.name });
    await until('the background check has found no agent', async () => {
      const found = org.admin.get<{ isActive: boolean }>(`/resources/${host.resourceId}`);
      return !(await org.admin.expect(200, found)).isActive;
    });
    expect((await agent.fetched()).guarded).toEqual([]);
    const query = `/agents/state?agent=${other.host.name}&dryRun=true`;
    const preview = await other.agent.client.expect(200, other.agent.client.get(query));
    expect(preview).toMatchObject({ guarded: [SSH], proposed: [WEB] });
    await other.agent.fetched();
    await verify(host.resourceId);
    expect((await other.agent.fetched()).guarded).toEqual([{ protocol: 'tcp', ports: [22, 443] }]);
  });

  it('another organization’s verification of a host of the same name changes nothing', async () => {
    const { host, agent } = await proposedHost();
    const stranger = await organization(drawbridge, []);
    const namesake = await guardedHost(stranger, host.name, { port: 443 });
    const spy = namesake.agent();
    await namesake.guardedBy(spy);
    expect(spy.state).toMatchObject({ guarded: [WEB], proposed: [] });
    expect(await agent.fetched()).toMatchObject({ guarded: [], proposed: [SSH] });
  });
});

describe('Confirmed ports', () => {
  const confirm = (id: string): Promise<{ status: number; body: { message?: string } }> =>
    org.admin.post(`/resources/${id}/confirm-guard`);

  it('are sent to the waiting agent once an administrator confirms them', async () => {
    const { host, agent } = await verifiedHost();
    await hostResource(org, host.credentialId, host.name, { port: 443 });
    await agent.turn();
    const news = await waiting(drawbridge, agent);
    expect((await confirm(host.resourceId)).status).toBe(200);
    expect(await news.answer).toMatchObject({ guarded: [SSH], confirmed: [SSH], proposed: [WEB] });
  });

  it('count from the verification on when they were confirmed before it', async () => {
    const { host, agent } = await proposedHost();
    expect((await confirm(host.resourceId)).status).toBe(200);
    expect(await agent.fetched()).toMatchObject({ guarded: [], confirmed: [], proposed: [SSH] });
    await host.guardedBy(agent);
    expect(agent.state).toMatchObject({ guarded: [SSH], confirmed: [SSH] });
  });

  it.each([
    ['other ports', { config: { port: 443 } }],
    ['another protocol', { config: { port: 22, protocol: 'udp' } }],
    ['another host', { resourceIdentifier: 'elsewhere' }],
  ])('are not confirmed for %s', async (_, body) => {
    const { host, agent } = await verifiedHost();
    await confirm(host.resourceId);
    expect((await agent.fetched()).confirmed).toEqual([SSH]);
    await change(host.resourceId, body);
    await change(host.resourceId, { resourceIdentifier: host.name });
    await verify(host.resourceId);
    expect((await agent.fetched()).confirmed).toEqual([]);
  });

  it('stay confirmed when something else changes', async () => {
    const { host, agent } = await verifiedHost();
    await confirm(host.resourceId);
    await change(host.resourceId, { name: 'Renamed', config: { ports: [22], maxSilenceSeconds: 60 } });
    expect((await agent.fetched()).confirmed).toEqual([SSH]);
  });

  it('exist on hosts with an agent only', async () => {
    expect(await confirm(org.resourceIds[0]!)).toMatchObject({
      status: 400,
      body: { message: 'AWS has no guard: only resources of the provider AGENT have one' },
    });
  });
});
