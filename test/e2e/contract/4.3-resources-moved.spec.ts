import { randomUUID } from 'node:crypto';
import { group, organization, SIMULATED_KEY, type Organization } from '../../builders/organization';
import type { Credential } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';

interface Coded {
  readonly error: string;
  readonly message: string;
}

describe('4.3 Cloud resources: another credential', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
  });
  afterAll(() => drawbridge.stop());

  const credential = async (
    org: Organization,
    provider: string,
    credentialType: string,
    credentialData: object,
  ): Promise<string> => {
    const body = { name: `${provider} ${randomUUID()}`, provider, credentialType, credentialData };
    return (await org.admin.expect(201, org.admin.post<Credential>('/credentials', body))).id;
  };
  const addresses = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target)).map(({ address }) => address);
  const withSession = async (index: number, ipv4Address: string) => {
    const org = await organization(drawbridge, [{ group: group(index), config: { port: 22 } }]);
    const { id } = await org.started({ ipv4Address });
    await org.reaches(id, 'ACTIVE');
    return { org, sessionId: id, resource: `/resources/${org.resourceIds[0]}` };
  };

  it('that works leaves the rule in place and revokes it later: the old one may be worthless by then, and deleted', async () => {
    const { org, sessionId, resource } = await withSession(0, '203.0.113.1');
    const fresh = await credential(org, 'AWS', 'ACCESS_KEY', SIMULATED_KEY);
    const moved = await org.admin.patch<{ credentialName: string }>(resource, { credentialId: fresh });
    expect(moved).toMatchObject({ status: 200, body: { credentialId: fresh } });
    await until('the rule was seen through it', async () => {
      const { resourceIps } = await org.session(sessionId);
      return resourceIps[0]!.status === 'APPLIED';
    });
    const old = `/credentials/${org.credentialId}`;
    const worthless = { ...SIMULATED_KEY, secretAccessKey: 'guessed' };
    await org.admin.expect(200, org.admin.patch(old, { credentialData: worthless }));
    await org.admin.expect(204, org.admin.delete(old));
    await org.admin.expect(200, org.admin.post(`/sessions/${sessionId}/stop`));
    await org.reaches(sessionId, 'CANCELLED');
    const events = (await drawbridge.cloud.timeline()).filter(({ target }) => target === group(0));
    expect(events.map(({ event }) => event)).toEqual(['opened', 'closed']);
  });

  it('that does not work fails the session, and the old rule is revoked with the old credential', async () => {
    const { org, sessionId, resource } = await withSession(1, '203.0.113.2');
    const wrong = await credential(org, 'AWS', 'ACCESS_KEY', {
      ...SIMULATED_KEY,
      secretAccessKey: 'guessed',
    });
    await org.admin.expect(200, org.admin.patch(resource, { credentialId: wrong }));
    const failed = await org.reaches(sessionId, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toMatch(/AuthFailure|signature|credentials/i);
    await until('the old rule is out', async () => (await addresses(group(1))).length === 0);
  });

  it('together with another target: the old rule is revoked with the old credential, nothing is left', async () => {
    const { org, sessionId, resource } = await withSession(2, '203.0.113.3');
    const wrong = await credential(org, 'AWS', 'ACCESS_KEY', {
      ...SIMULATED_KEY,
      secretAccessKey: 'guessed',
    });
    const move = { credentialId: wrong, resourceIdentifier: group(3) };
    await org.admin.expect(200, org.admin.patch(resource, move));
    await org.reaches(sessionId, 'FAILED');
    await until('the old rule is out', async () => (await addresses(group(2))).length === 0);
    expect(await addresses(group(3))).toEqual([]);
  });

  it('another region keeps the session’s rules: what stands is seen again from there', async () => {
    const { org, sessionId, resource } = await withSession(4, '203.0.113.4');
    const moved = await org.admin.patch(resource, { region: 'us-east-1' });
    expect(moved).toMatchObject({ status: 200, body: { region: 'us-east-1' } });
    await until('it is applied there', async () => {
      const { resourceIps } = await org.session(sessionId);
      return resourceIps[0]!.status === 'APPLIED';
    });
    await org.admin.expect(200, org.admin.post(`/sessions/${sessionId}/stop`));
    await org.reaches(sessionId, 'CANCELLED');
    expect(await addresses(group(4))).toEqual([]);
  });

  it('of another provider is 400 VALIDATION_ERROR naming credentialId, for a new resource and for one there is', async () => {
    const org = await organization(drawbridge, [{ group: group(5) }]);
    const other = await credential(org, 'VERCEL', 'TOKEN', { token: 'a-token' });
    const body = {
      name: 'database',
      credentialId: other,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(5),
      region: 'eu-central-1',
    };
    for (const answer of [
      await org.admin.post<Coded>('/resources', body),
      await org.admin.patch<Coded>(`/resources/${org.resourceIds[0]}`, { credentialId: other }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
      expect(answer.body.message).toContain('credentialId');
    }
  });

  it('verify and reconcile of a missing or another organization’s resource are 404 RESOURCE_NOT_FOUND', async () => {
    const [org, other] = [
      await organization(drawbridge, []),
      await organization(drawbridge, [{ group: group(6) }]),
    ];
    for (const id of [randomUUID(), other.resourceIds[0]]) {
      for (const deed of ['verify', 'reconcile']) {
        expect(await org.admin.post(`/resources/${id}/${deed}`)).toMatchObject({
          status: 404,
          body: { error: 'RESOURCE_NOT_FOUND' },
        });
      }
    }
  });

  it('a verification that finds it again after one that failed makes it active again', async () => {
    const org = await organization(drawbridge, [{ group: group(7) }]);
    const path = `/resources/${org.resourceIds[0]}`;
    const fault = { kind: 'refuse', target: group(7), operation: 'DescribeSecurityGroups', count: 1 };
    await drawbridge.cloud.fault(fault);
    expect((await org.admin.post(`${path}/verify`)).status).toBe(400);
    const off = (await org.admin.get<{ lastVerifiedAt: string }>(path)).body;
    expect(off).toMatchObject({ isActive: false });
    const on = await org.admin.expect(200, org.admin.post<{ lastVerifiedAt: string }>(`${path}/verify`));
    expect(on).toMatchObject({ isActive: true });
    expect(Date.parse(on.lastVerifiedAt)).toBeGreaterThan(Date.parse(off.lastVerifiedAt));
  });
});
