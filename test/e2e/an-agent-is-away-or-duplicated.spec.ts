import { early, hostsOf, lastHeardOf, waiting, type GuardedHost } from '../builders/resources/agents';
import { auditRecords, type AuditRecord } from '../builders/audit/audit-trail';
import { ownOrganization } from '../builders/accounts/organization';
import { healthOf, type HealthRow } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge, []);
const { newHost, served, startedOn, statusOf } = hostsOf(org);

const stop = (id: string): Promise<unknown> => org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));

/** The worker compares the host now: as long as the interval of comparisons is what a condition is waited for. */
const compared = ({ resourceId }: GuardedHost): Promise<unknown> =>
  drawbridge.query(
    `UPDATE targets SET reconcile_due_at = now() WHERE id = (SELECT target_id FROM resources WHERE id = $1)`,
    [resourceId],
  );

/** Its agent was heard of last so long ago, and the worker takes notice. */
async function away(host: GuardedHost, seconds = 75): Promise<void> {
  await lastHeardOf(drawbridge, host.name, seconds);
  await compared(host);
}

/** Waits for the newest event of a comparison of the host to be of this type. Verifications have events of their own. */
async function tells(host: GuardedHost, eventType: 'RECONCILE_OK' | 'RECONCILE_FAILED'): Promise<HealthRow> {
  await compared(host);
  return until(`${eventType} is told`, async () => {
    const events = await healthOf(drawbridge, host.resourceId);
    const newest = events.findLast((event) => event.eventType.startsWith('RECONCILE_'));
    return newest?.eventType === eventType && newest;
  });
}

const recordsOf = async ({ name }: GuardedHost, eventType: string): Promise<AuditRecord[]> =>
  (await auditRecords(org.admin, `?eventType=${eventType}&size=100`)).filter(
    ({ resourceName }) => resourceName === name,
  );

const RULES_OF_SESSION = `SELECT h.rule_id FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE ip.session_id = $1`;

describe('An agent that is away', () => {
  it('that never connected: verify does not find its resource', async () => {
    const host = await newHost();
    const { status, body } = await host.verify();
    expect([status, body.error]).toEqual([404, 'CLOUD_RESOURCE_NOT_FOUND']);
    expect(body.message).toContain(host.name);
    await host.agent().fetched();
    expect(await host.verify()).toMatchObject({ status: 200, body: { isActive: true } });
  });

  it('for a minute: verify reports since when, and the resource cannot be used', async () => {
    const { host } = await served();
    // not just below the minute: on a busy machine seconds pass before the answer
    await lastHeardOf(drawbridge, host.name, 30);
    expect((await host.verify()).status).toBe(200);
    await lastHeardOf(drawbridge, host.name, 75);
    const { status, body } = await host.verify();
    expect([status, body.error]).toEqual([400, 'VERIFICATION_FAILED']);
    expect(body.message).toMatch(/not been heard of for \d+ seconds/);
    const resource = org.admin.get<{ isActive: boolean }>(`/resources/${host.resourceId}`);
    expect((await org.admin.expect(200, resource)).isActive).toBe(false);
  });

  it('is recorded with a health event, and so are its return and the next time', async () => {
    const { host, agent } = await served();
    await tells(host, 'RECONCILE_OK');
    expect(await recordsOf(host, 'AGENT_CONNECTED')).toMatchObject([
      { actorType: 'AGENT', resourceType: 'AGENT' },
    ]);
    await away(host);
    expect((await tells(host, 'RECONCILE_FAILED')).message).toContain('has not been heard of');
    expect(await recordsOf(host, 'AGENT_OFFLINE')).toMatchObject([
      { actorType: 'SYSTEM', result: 'FAILURE' },
    ]);
    await agent.fetched();
    await tells(host, 'RECONCILE_OK');
    expect(await recordsOf(host, 'AGENT_CONNECTED')).toHaveLength(2);
    await away(host);
    await tells(host, 'RECONCILE_FAILED');
    expect(await recordsOf(host, 'AGENT_OFFLINE')).toHaveLength(2);
  });

  it('leaves a session PENDING, which fails like any other, with a message that explains why', async () => {
    const { host, agent } = await served();
    await away(host);
    const { id } = await startedOn(host);
    await tells(host, 'RECONCILE_FAILED');
    expect(await statusOf(id)).toBe('PENDING');
    await org.waitedTooLong(id);
    const failed = await org.reaches(id, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toContain(`The agent ${host.name} has not been heard of`);
    expect((await agent.fetched()).rules).toEqual([]);
  });

  it('leaves a session PENDING that would share a rule which was present before', async () => {
    const { host, agent } = await served();
    const first = await startedOn(host);
    await agent.turn();
    await away(host);
    const second = await startedOn(host, { ipv4Address: first.ipv4Address, holder: 'second' });
    await org.waitedTooLong(second.id);
    await org.reaches(second.id, 'FAILED');
    expect(await statusOf(first.id)).toBe('ACTIVE');
  });

  it('leaves a stopped session EXPIRING until it is back, with an alert that explains why', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.turn();
    await away(host);
    await stop(id);
    // a removal that was not tried yet has nothing to explain
    await until('its removal was tried', async () => {
      const tried = `SELECT 1 FROM rules WHERE id IN (${RULES_OF_SESSION}) AND unwanted_since IS NOT NULL AND last_error IS NOT NULL`;
      return (await drawbridge.query(tried, [id])).length === 1;
    });
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = now() - interval '1 minute' WHERE id IN (${RULES_OF_SESSION})`,
      [id],
    );
    const alarm = await until('the alarm is raised', async () => {
      const records = await auditRecords(org.admin, '?eventType=RULE_REVOCATION_OVERDUE&size=100');
      return records.find(({ details }) => details['sessionId'] === id);
    });
    expect(alarm.errorMessage).toContain(`The agent ${host.name} has not been heard of`);
    expect(await statusOf(id)).toBe('EXPIRING');
    await agent.turn();
    expect(await statusOf(id)).toBe('CANCELLED');
  });

  it('ends a session by itself at its time: it is EXPIRING until the agent reports it', async () => {
    const { host, agent } = await served();
    const { id } = await startedOn(host);
    await agent.turn();
    await away(host);
    await org.expire(id);
    await org.reaches(id, 'EXPIRING');
    await tells(host, 'RECONCILE_FAILED');
    expect(await statusOf(id)).toBe('EXPIRING');
    await agent.turn();
    expect(await statusOf(id)).toBe('EXPIRED');
  });

  it('makes its resource inactive in the background, and active again once it is back', async () => {
    const { host, agent } = await served();
    const isActive = async (): Promise<boolean> => {
      const found = org.admin.get<{ isActive: boolean }>(`/resources/${host.resourceId}`);
      return (await org.admin.expect(200, found)).isActive;
    };
    await lastHeardOf(drawbridge, host.name, 75);
    await drawbridge.query('UPDATE resources SET verify_due_at = now() WHERE id = $1', [host.resourceId]);
    await until('it may not be used', async () => !(await isActive()));
    await agent.fetched();
    expect(await until('it may be used', isActive)).toBe(true);
  });

  it('is notified again after a broken database connection is restored', async () => {
    const { host, agent } = await served();
    const news = await waiting(drawbridge, agent);
    const listening = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'drawbridge-agents'`;
    const broken = await drawbridge.query(`SELECT pg_terminate_backend(pid) ${listening}`);
    expect(broken).toHaveLength(1);
    const { ipv4Address } = await startedOn(host);
    expect((await early(news)).rules).toMatchObject([{ ipAddress: ipv4Address }]);
    await until('somebody listens again', async () => {
      return (await drawbridge.query(`SELECT 1 ${listening}`)).length === 1;
    });
  });
});

describe('Two agents with one name', () => {
  it('one serves, the other is refused, and both are recorded', async () => {
    const { host, agent } = await served({ port: 22 }, { instance: 'first' });
    await tells(host, 'RECONCILE_OK');
    const second = host.agent('second');
    const refused = await second.ask();
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(host.name) as string },
    });
    expect((await second.report('', [])).status).toBe(409);
    await second.ask();
    expect((await tells(host, 'RECONCILE_FAILED')).message).toContain('Two agents call themselves');
    expect(await recordsOf(host, 'AGENT_DUPLICATED')).toMatchObject([
      {
        actorType: 'AGENT',
        result: 'FAILURE',
        details: { instance: 'second', serving: { instance: 'first' } },
      },
    ]);
    const { id } = await startedOn(host);
    await agent.turn();
    expect(await statusOf(id)).toBe('ACTIVE');
  });

  it('of many concurrent agents one serves', async () => {
    const host = await newHost();
    const asked = Array.from({ length: 12 }, (_, index) => host.agent(`copy-${index}`).ask());
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // one more is served after it; the others came while both were on their way
    expect(statuses.filter((status) => status === 409 || status === 429)).toHaveLength(11);
  });

  it('the other takes over once the first is away, and has to confirm all rules', async () => {
    const { host, agent } = await served({ port: 22 }, { instance: 'first' });
    const { id } = await startedOn(host);
    await agent.turn();
    const second = host.agent('second');
    expect((await second.ask()).status).toBe(409);
    await lastHeardOf(drawbridge, host.name, 61);
    expect((await second.fetched()).rules).toMatchObject([{ unconfirmed: true }]);
    expect((await agent.ask()).status).toBe(409);
    await second.turn();
    expect(await statusOf(id)).toBe('ACTIVE');
    expect(await recordsOf(host, 'AGENT_CONNECTED')).toHaveLength(2);
  });

  it('a waiting agent that was replaced is refused at the end of its wait', async () => {
    const { host, agent } = await served({ port: 22 }, { instance: 'first' });
    const { answer } = await waiting(drawbridge, agent);
    const refused = answer.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    const second = host.agent('second');
    // a notification of the earlier requests may come as late as this: then the first is heard of again
    await until('the second serves', async () => {
      await lastHeardOf(drawbridge, host.name, 61);
      return (await second.ask()).status === 200;
    });
    await startedOn(host);
    expect(await refused).toContain('Expected 200, got 409');
  });
});
