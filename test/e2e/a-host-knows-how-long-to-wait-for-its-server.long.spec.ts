import {
  hostResource,
  hostsOf,
  lastHeardOf,
  waiting,
  type GuardedHost,
  type TestAgent,
} from '../builders/resources/agents';
import { ownOrganization } from '../builders/accounts/organization';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge);

const { served, fresh, startedOn } = hostsOf(org);

const limitOf = async (agent: TestAgent): Promise<number | null> =>
  (await agent.turn()).rules[0]!.maxSilenceSeconds;

describe('A host knows how long to wait for its server', () => {
  it.each([
    [600, {}],
    [60, { maxSilenceSeconds: 60 }],
    [null, { maxSilenceSeconds: null }],
  ])('%s seconds by a config of %j', async (expected, config) => {
    const { host, agent } = await served({ port: 22, ...config });
    const shown = org.admin.get<{ config: object }>(`/resources/${host.resourceId}`);
    expect((await org.admin.expect(200, shown)).config).toEqual({ port: 22, ...config });
    await startedOn(host);
    expect(await limitOf(agent)).toBe(expected);
  });

  it('the longest of a rule’s holders, no limit before any, and none for a static rule', async () => {
    const { host, agent } = await served({ port: 22, maxSilenceSeconds: 120 });
    const resources: string[] = [];
    for (const maxSilenceSeconds of [900, null]) {
      const config = { port: 22, maxSilenceSeconds };
      const id = await hostResource(org, host.credentialId, host.name, config);
      await org.admin.posted(`/resources/${id}/verify`);
      resources.push(id);
    }
    const ipv4Address = fresh();
    const short = await startedOn(host, { ipv4Address, holder: 'a' });
    expect(await limitOf(agent)).toBe(120);
    const long = await startedOn(host, { ipv4Address, holder: 'b', resourceIds: [resources[0]] });
    expect(await limitOf(agent)).toBe(900);
    const endless = await startedOn(host, { ipv4Address, holder: 'c', resourceIds: [resources[1]] });
    expect(await limitOf(agent)).toBeNull();
    await org.admin.posted(`/sessions/${endless.id}/stop`);
    expect(await limitOf(agent)).toBe(900);
    await org.admin.posted(`/sessions/${long.id}/stop`);
    expect(await limitOf(agent)).toBe(120);
    const office = { label: 'office', ipAddress: ipv4Address, resourceIds: [host.resourceId] };
    await org.admin.created('/static-ip-rules', office);
    expect(await limitOf(agent)).toBeNull();
    await org.admin.posted(`/sessions/${short.id}/stop`);
    expect(await limitOf(agent)).toBeNull();
  });

  it('a changed limit is a new state for a waiting agent, and the session stays', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.turn();
    const news = await waiting(drawbridge, agent);
    const config = { port: 22, maxSilenceSeconds: 3600 };
    await org.admin.expect(200, org.admin.patch(`/resources/${host.resourceId}`, { config }));
    const { version, rules } = await news.answer;
    expect(version).not.toBe(agent.state!.version);
    expect(rules).toMatchObject([{ maxSilenceSeconds: 3600, unconfirmed: false }]);
    expect((await org.session(id)).status).toBe('ACTIVE');
  });

  it.each([59, 86_401, 60.5, '600', true])('%j seconds: 400', async (maxSilenceSeconds) => {
    const { host } = await served();
    const body = { config: { port: 22, maxSilenceSeconds } };
    expect(await org.admin.patch(`/resources/${host.resourceId}`, body)).toMatchObject({
      status: 400,
      body: {
        message:
          'config.maxSilenceSeconds must be a whole number of seconds from 60 to 86400, or null for no limit',
      },
    });
  });

  it('a cloud has no such limit: 400', async () => {
    const config = { port: 22, maxSilenceSeconds: 600 };
    expect((await org.admin.patch(`/resources/${org.resourceIds[0]}`, { config })).status).toBe(400);
  });
});

describe('A host that may have closed rules while it was away', () => {
  interface Access {
    readonly possibleFrom: string | null;
    readonly certainFrom: string | null;
    readonly certainUntil: string | null;
    readonly possibleUntil: string | null;
  }

  const accessOf = async (resourceId: string): Promise<Access> => {
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const query = `resourceId=${resourceId}&from=${from}&to=${new Date().toISOString()}`;
    const [access] = await org.admin.expect(200, org.admin.get<Access[]>(`/reports/access?${query}`));
    return access!;
  };
  const now = async (): Promise<number> => {
    const [row] = await drawbridge.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return row!.now.getTime();
  };
  const time = (text: string | null): number => Date.parse(text!);

  /** A session whose rule was present for a minute when it was last reported, and then silence for 75 seconds. */
  async function silentHost(): Promise<{ host: GuardedHost; agent: TestAgent; session: Session }> {
    const { host, agent } = await served();
    const session = await startedOn(host);
    await agent.turn();
    await org.reaches(session.id, 'ACTIVE');
    await drawbridge.query(
      `UPDATE rules r SET possible_since = possible_since - interval '140 seconds',
         present_since = present_since - interval '140 seconds', observed_at = observed_at - interval '80 seconds'
       FROM targets t WHERE t.id = r.target_id AND t.identifier = $1`,
      [host.name],
    );
    await drawbridge.query(
      `UPDATE resource_ips SET created_at = created_at - interval '140 seconds',
         applied_at = applied_at - interval '140 seconds' WHERE session_id = $1`,
      [session.id],
    );
    await lastHeardOf(drawbridge, host.name, 75);
    return { host, agent, session };
  }

  it('reports its rules again, and the time in between is not certain', async () => {
    const { host, agent, session } = await silentHost();
    const before = await accessOf(host.resourceId);
    expect(time(before.certainUntil)).toBeLessThan((await now()) - 75_000);
    const back = await now();
    expect((await agent.fetched()).rules).toMatchObject([{ unconfirmed: true }]);
    const away = await accessOf(host.resourceId);
    expect([away.certainFrom, away.certainUntil]).toEqual([before.certainFrom, before.certainUntil]);
    expect((await org.session(session.id)).status).toBe('ACTIVE');
    await agent.turn();
    const after = await accessOf(host.resourceId);
    expect(after.possibleFrom).toBe(before.possibleFrom);
    const certainFrom = after.certainFrom === null ? Infinity : time(after.certainFrom);
    expect(certainFrom).toBeGreaterThanOrEqual(back);
    expect((await org.session(session.id)).status).toBe('ACTIVE');
  });

  it('and reports a rule as closed: access was certain until it was last observed', async () => {
    const { host, agent, session } = await silentHost();
    const before = await accessOf(host.resourceId);
    expect(time(before.certainUntil) - time(before.certainFrom)).toBeGreaterThan(50_000);
    await agent.fetched();
    await org.admin.posted(`/sessions/${session.id}/stop`);
    await agent.turn();
    await org.reaches(session.id, 'CANCELLED');
    const closed = await until('it is closed', async () => {
      const access = await accessOf(host.resourceId);
      return access.possibleUntil !== null && access;
    });
    expect([closed.certainFrom, closed.certainUntil]).toEqual([before.certainFrom, before.certainUntil]);
  });

  it('a shorter silence changes nothing', async () => {
    const { host, agent } = await served();
    await startedOn(host);
    const { version } = await agent.turn();
    await lastHeardOf(drawbridge, host.name, 55);
    expect(await agent.fetched()).toMatchObject({ version, rules: [{ unconfirmed: false }] });
  });
});

describe('The holders of a rule', () => {
  it('are named for the host’s log, five at most, and are not part of the version', async () => {
    const { host, agent } = await served();
    const ipv4Address = fresh();
    const sessions: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      sessions.push((await startedOn(host, { ipv4Address, holder: `job-${index}` })).id);
    }
    const [rule] = (await agent.turn()).rules;
    expect(rule!.holders).toEqual(
      sessions.slice(0, 5).map((sessionId) => ({ sessionId, user: org.adminEmail, label: null })),
    );
    const { version } = agent.state!;
    const email = 'renamed@example.com';
    await drawbridge.query('UPDATE users SET email = $2 WHERE id = $1', [org.adminId, email]);
    expect(await agent.fetched()).toMatchObject({
      version,
      rules: [{ holders: [{ user: email }, {}, {}, {}, {}] }],
    });
    await drawbridge.query('UPDATE users SET email = $2 WHERE id = $1', [org.adminId, org.adminEmail]);
  });

  it('are the live ones: an ended session is none, and a static rule has its label', async () => {
    const { host, agent } = await served();
    const ipv4Address = fresh();
    const { id } = await startedOn(host, { ipv4Address });
    const office = { label: 'office', ipAddress: ipv4Address, resourceIds: [host.resourceId] };
    await org.admin.created('/static-ip-rules', office);
    expect((await agent.turn()).rules[0]!.holders).toHaveLength(2);
    await org.admin.posted(`/sessions/${id}/stop`);
    expect((await agent.turn()).rules[0]!.holders).toEqual([
      { sessionId: null, user: null, label: 'office' },
    ]);
  });
});
