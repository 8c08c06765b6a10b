import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import { Drawbridge } from '../harness/product/drawbridge';
import type { AppProcess } from '../harness/product/processes';
import { until } from '../harness/until';

const HOUR_S = 3600;

const project = (number: number): string => `${'0'.repeat(22)}a${number}`;

/** Entries have an end by Atlas' own clock: they go also when Drawbridge does not run any more. */
describe('Sessions on MongoDB Atlas', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge);

  let worker: AppProcess;
  beforeAll(async () => {
    worker = await drawbridge.startWorker();
  });

  const verified = (identifier: string): Promise<string> => verifiedService(org, 'PROJECT', identifier);
  const open = async (identifier: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(identifier, 'ATLAS')).map(({ address }) => address);
  const ahead = async (aheadSeconds: number): Promise<void> => {
    const body = JSON.stringify({ provider: 'ATLAS', aheadSeconds });
    const answer = await fetch(`${drawbridge.cloud.url}/_clock`, { method: 'PUT', body });
    expect(answer.status).toBe(200);
  };
  const writes = async (): Promise<number> =>
    (await drawbridge.cloud.calls()).filter(({ operation }) => operation === 'createAccessListEntry').length;
  /** When entries end by Atlas' clock, seconds since 1970; Infinity: never. */
  const endsOf = async (identifier: string): Promise<number[]> => {
    const objects = (await drawbridge.cloud.objects('ATLAS')) as Record<string, { endsAt: number | null }[]>;
    return objects[identifier]!.map(({ endsAt }) => (endsAt === null ? Infinity : endsAt / 1000));
  };
  const endIn = async (identifier: string): Promise<number> => {
    const [rule] = await drawbridge.query<{ seconds: number }>(
      `SELECT extract(epoch FROM r.native_end_at - s.expires_at)::float8 AS seconds FROM rules r
       JOIN targets t ON t.id = r.target_id JOIN rule_holders h ON h.rule_id = r.id
       JOIN resource_ips ip ON ip.id = h.resource_ip_id JOIN sessions s ON s.id = ip.session_id
       WHERE t.identifier = $1`,
      [identifier],
    );
    return Math.round(rule!.seconds);
  };

  it('an extended session’s entry gets a later end, and heartbeats write nothing', async () => {
    const resourceId = await verified(project(2));
    const { id } = await org.opened({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.2',
      leaseSeconds: 60,
    });
    expect(await endIn(project(2))).toBe(120);
    const before = await writes();
    for (let beat = 0; beat < 60; beat += 1) await org.admin.posted(`/sessions/${id}/renew`);
    expect(await writes()).toBe(before);
    await org.admin.posted(`/sessions/${id}/extend`, { additionalHours: 1 });
    await until('the entry ends after the new end', async () => (await endIn(project(2))) === 120);
    expect(await writes()).toBe(before + 1);
  });

  it('a static IP rule with an end has an entry that ends two minutes after it, also when the end is changed', async () => {
    const resourceId = await verified(project(4));
    const ends = (hours: number): string =>
      new Date((Math.floor(Date.now() / 1000) + hours * HOUR_S) * 1000).toISOString();
    const expiresAt = ends(48);
    const { id } = await staticIpRule(org, {
      resourceIds: [resourceId],
      ipAddress: '203.0.113.4',
      expiresAt,
    });
    await staticIpRuleReaches(org, id, 'ACTIVE');
    expect(await endsOf(project(4))).toEqual([Date.parse(expiresAt) / 1000 + 120]);
    const later = ends(72);
    await org.admin.expect(200, org.admin.patch(`/static-ip-rules/${id}`, { expiresAt: later }));
    await until(
      'its entry ends later',
      async () => (await endsOf(project(4)))[0] === Date.parse(later) / 1000 + 120,
    );
    await drawbridge.query(`UPDATE static_ip_rules SET expires_at = now() WHERE id = $1`, [id]);
    await until('it is removed at its end', async () => (await open(project(4))).length === 0);
  });

  it('a static IP rule that ends after weeks has an entry that ends within one, and is renewed before', async () => {
    const resourceId = await verified(project(5));
    const days = async (): Promise<number> => ((await endsOf(project(5)))[0]! - Date.now() / 1000) / 86_400;
    const { id } = await staticIpRule(org, {
      resourceIds: [resourceId],
      ipAddress: '203.0.113.5',
      expiresAt: new Date(Date.now() + 20 * 86_400_000).toISOString(),
    });
    await staticIpRuleReaches(org, id, 'ACTIVE');
    expect(Math.round(await days())).toBe(7);
    // as six days later
    await drawbridge.cloud.changeByHand(
      project(5),
      '203.0.113.5',
      { fields: { deleteAfterDate: new Date(Date.now() + 12 * HOUR_S * 1000).toISOString() } },
      'ATLAS',
    );
    await drawbridge.query(
      `UPDATE rules SET native_end_at = native_end_at - interval '6.5 days' WHERE address = '203.0.113.5/32'`,
    );
    // the worker looks for such entries once in a while
    await until('it is renewed', async () => Math.round(await days()) === 7, 150_000);
    await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${id}`));
    await until('it is removed', async () => (await open(project(5))).length === 0);
  });

  it('without a worker an entry goes two minutes after the planned end, by Atlas’ clock', async () => {
    const resourceId = await verified(project(3));
    await org.opened({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.3',
      durationHours: 1,
    });
    await worker.stop('SIGKILL');
    await ahead(HOUR_S);
    expect(await open(project(3))).toEqual(['203.0.113.3']);
    await ahead(HOUR_S + 150);
    expect(await open(project(3))).toEqual([]);
  });
});
