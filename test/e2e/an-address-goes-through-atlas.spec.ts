import { ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { AppProcess } from '../harness/product/processes';
import type { OpenRule } from '../harness/product/simulator-client';
import { until } from '../harness/until';

const HOUR_S = 3600;

interface Created {
  readonly id: string;
}

const project = (number: number): string => `${'0'.repeat(22)}a${number}`;

/** Entries have an end by Atlas' own clock: they go also when Drawbridge does not run any more. */
describe('Sessions on MongoDB Atlas', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge);

  let worker: AppProcess;
  beforeAll(async () => {
    worker = await drawbridge.startWorker();
  });

  const verified = async (identifier: string): Promise<string> => {
    const { admin, roleId } = org;
    const credential = await admin.created<Created>('/credentials', {
      name: `Atlas ${identifier}`,
      provider: 'ATLAS',
      credentialType: 'SERVICE_ACCOUNT',
      credentialData: { clientId: 'mdb_sa_id_simulated', clientSecret: 'simulated-atlas-secret' },
    });
    const resource = await admin.created<Created>('/resources', {
      name: `Atlas ${identifier}`,
      provider: 'ATLAS',
      resourceType: 'PROJECT',
      resourceIdentifier: identifier,
      credentialId: credential.id,
    });
    await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
    await admin.posted(`/resources/${resource.id}/verify`);
    return resource.id;
  };
  const open = async (identifier: string): Promise<string[]> => {
    const response = await fetch(`${drawbridge.cloud.url}/_rules?provider=ATLAS&target=${identifier}`);
    return ((await response.json()) as OpenRule[])
      .map(({ address, ours }) => `${address} ${ours}`)
      .toSorted();
  };
  const ahead = async (aheadSeconds: number): Promise<void> => {
    const body = JSON.stringify({ provider: 'ATLAS', aheadSeconds });
    const answer = await fetch(`${drawbridge.cloud.url}/_clock`, { method: 'PUT', body });
    expect(answer.status).toBe(200);
  };
  const writes = async (): Promise<number> =>
    (await drawbridge.cloud.calls()).filter(({ operation }) => operation === 'createAccessListEntry').length;
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

  it('a session lets its addresses in until it is stopped; entries of others stay', async () => {
    const resourceId = await verified(project(1));
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.1',
      ipv6Address: '2001:db8::1',
    });
    await org.reaches(id, 'ACTIVE');
    expect(await open(project(1))).toEqual(['2001:db8::1 true', '203.0.113.1 true']);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await open(project(1))).toEqual([]);
  });

  it('an extended session’s entry gets a later end, and heartbeats write nothing', async () => {
    const resourceId = await verified(project(2));
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.2',
      leaseSeconds: 60,
    });
    await org.reaches(id, 'ACTIVE');
    expect(await endIn(project(2))).toBe(120);
    const before = await writes();
    for (let beat = 0; beat < 60; beat += 1) await org.admin.posted(`/sessions/${id}/renew`);
    expect(await writes()).toBe(before);
    await org.admin.posted(`/sessions/${id}/extend`, { additionalHours: 1 });
    await until('the entry ends after the new end', async () => (await endIn(project(2))) === 120);
    expect(await writes()).toBe(before + 1);
  });

  it('without a worker an entry goes two minutes after the planned end, by Atlas’ clock', async () => {
    const resourceId = await verified(project(3));
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.3',
      durationHours: 1,
    });
    await org.reaches(id, 'ACTIVE');
    await worker.stop('SIGKILL');
    await ahead(HOUR_S);
    expect(await open(project(3))).toEqual(['203.0.113.3 true']);
    await ahead(HOUR_S + 150);
    expect(await open(project(3))).toEqual([]);
  });
});
