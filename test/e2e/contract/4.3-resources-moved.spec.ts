import { randomUUID } from 'node:crypto';
import { group, organization, SIMULATED_KEY, type Organization } from '../../builders/accounts/organization';
import { resourceBody, verifiedResource } from '../../builders/resources/resources';
import type { Answer, Credential } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const WORTHLESS = { ...SIMULATED_KEY, secretAccessKey: 'guessed' };

interface Coded {
  readonly error: string;
  readonly message: string;
}

describe('4.3 Cloud resources: another target, region or credential', () => {
  const drawbridge = Drawbridge.shared();

  const credential = async (
    org: Organization,
    provider: string,
    credentialType: string,
    credentialData: object,
  ): Promise<string> => {
    const body = { name: `${provider} ${randomUUID()}`, provider, credentialType, credentialData };
    return (await org.admin.created<Credential>('/credentials', body)).id;
  };
  const addresses = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target)).map(({ address }) => address);
  const isApplied = (org: Organization, sessionId: string): Promise<unknown> =>
    until('the rule is seen by the new way', async () => {
      const { resourceIps } = await org.session(sessionId);
      return resourceIps[0]!.status === 'APPLIED';
    });
  const withSession = async (index: number, ipv4Address: string) => {
    const org = await organization(drawbridge, [{ group: group(index), config: { port: 22 } }]);
    const { id } = await org.started({ ipv4Address });
    await org.reaches(id, 'ACTIVE');
    return { org, sessionId: id, resource: `/resources/${org.resourceIds[0]}` };
  };

  it('to a valid credential keeps the rule, which is revoked with it later, even if the old credential is invalid and deleted', async () => {
    const { org, sessionId, resource } = await withSession(0, '203.0.113.1');
    const fresh = await credential(org, 'AWS', 'ACCESS_KEY', SIMULATED_KEY);
    const moved = await org.admin.patch<{ credentialName: string }>(resource, { credentialId: fresh });
    expect(moved).toMatchObject({ status: 200, body: { credentialId: fresh } });
    await isApplied(org, sessionId);
    const old = `/credentials/${org.credentialId}`;
    await org.admin.expect(200, org.admin.patch(old, { credentialData: WORTHLESS }));
    await org.admin.expect(204, org.admin.delete(old));
    await org.admin.posted(`/sessions/${sessionId}/stop`);
    await org.reaches(sessionId, 'CANCELLED');
    const events = (await drawbridge.cloud.timeline()).filter(({ target }) => target === group(0));
    expect(events.map(({ event }) => event)).toEqual(['opened', 'closed']);
  });

  it('to an invalid credential fails the session, and the old rule is revoked with the old credential', async () => {
    const { org, sessionId, resource } = await withSession(1, '203.0.113.2');
    const wrong = await credential(org, 'AWS', 'ACCESS_KEY', WORTHLESS);
    await org.admin.expect(200, org.admin.patch(resource, { credentialId: wrong }));
    const failed = await org.reaches(sessionId, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toMatch(/AuthFailure|signature|credentials/i);
    await until('the old rule is out', async () => (await addresses(group(1))).length === 0);
  });

  it('to an invalid credential and another target: the old rule is revoked with the old credential, nothing is left', async () => {
    const { org, sessionId, resource } = await withSession(2, '203.0.113.3');
    const wrong = await credential(org, 'AWS', 'ACCESS_KEY', WORTHLESS);
    const move = { credentialId: wrong, resourceIdentifier: group(3) };
    await org.admin.expect(200, org.admin.patch(resource, move));
    await org.reaches(sessionId, 'FAILED');
    await until('the old rule is out', async () => (await addresses(group(2))).length === 0);
    expect(await addresses(group(3))).toEqual([]);
  });

  it('another region keeps the session’s rules, which are observed again through it', async () => {
    const { org, sessionId, resource } = await withSession(4, '203.0.113.4');
    const moved = await org.admin.patch(resource, { region: 'us-east-1' });
    expect(moved).toMatchObject({ status: 200, body: { region: 'us-east-1' } });
    await isApplied(org, sessionId);
    await org.admin.posted(`/sessions/${sessionId}/stop`);
    await org.reaches(sessionId, 'CANCELLED');
    expect(await addresses(group(4))).toEqual([]);
  });

  it('a credential of another provider is 400 VALIDATION_ERROR naming credentialId, for new and existing resources', async () => {
    const org = await organization(drawbridge, [{ group: group(5) }]);
    const other = await credential(org, 'VERCEL', 'TOKEN', { token: 'a-token' });
    for (const answer of [
      await org.admin.post<Coded>('/resources', resourceBody(org, { credentialId: other })),
      await org.admin.patch<Coded>(`/resources/${org.resourceIds[0]}`, { credentialId: other }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
      expect(answer.body.message).toContain('credentialId');
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
    const on = await org.admin.posted<{ lastVerifiedAt: string }>(`${path}/verify`);
    expect(on).toMatchObject({ isActive: true });
    expect(Date.parse(on.lastVerifiedAt)).toBeGreaterThan(Date.parse(off.lastVerifiedAt));
  });

  describe('PATCH /resources/{id} of a resource in use', () => {
    let org: Organization;

    beforeAll(async () => {
      org = await organization(drawbridge, []);
    });

    const patch = (id: string, body: object): Promise<Answer<object>> =>
      org.admin.patch(`/resources/${id}`, body);
    const opened = async (target: string): Promise<string[]> =>
      (await drawbridge.cloud.rules(target)).map((rule) => `${rule.address} ${rule.fromPort}`).toSorted();

    it('isActive false keeps running sessions and refuses new ones', async () => {
      const resource = await verifiedResource(org, 7);
      const session = await org.started({ ipv4Address: '203.0.113.10', resourceIds: [resource.id] });
      await org.reaches(session.id, 'ACTIVE');
      await patch(resource.id, { isActive: false });
      expect((await org.start({ ipv4Address: '203.0.113.11', resourceIds: [resource.id] })).status).toBe(400);
      expect(await opened(group(7))).toEqual(['203.0.113.10 22']);
      expect((await org.session(session.id)).status).toBe('ACTIVE');
    });

    it('to another target moves applied rules and leaves nothing behind', async () => {
      const resource = await verifiedResource(org, 5);
      const session = await org.started({ ipv4Address: '203.0.113.20', resourceIds: [resource.id] });
      await org.reaches(session.id, 'ACTIVE');
      await org.admin.expect(200, patch(resource.id, { resourceIdentifier: group(6) }));
      await until('the rule has moved', async () => {
        const [old, fresh] = await Promise.all([opened(group(5)), opened(group(6))]);
        return old.length === 0 && fresh.length === 1;
      });
      await isApplied(org, session.id);
      await org.admin.posted(`/sessions/${session.id}/stop`);
      await org.reaches(session.id, 'CANCELLED');
      expect(await opened(group(6))).toEqual([]);
    });

    it('to other ports closes the old ones and opens the new ones', async () => {
      const resource = await verifiedResource(org, 8, { ports: [80, 443] });
      const session = await org.started({ ipv4Address: '203.0.113.21', resourceIds: [resource.id] });
      await org.reaches(session.id, 'ACTIVE');
      await org.admin.expect(200, patch(resource.id, { config: { ports: [443, 8443] } }));
      await until('the ports have changed', async () => {
        const rules = await opened(group(8));
        return rules.join() === '203.0.113.21 443,203.0.113.21 8443';
      });
      const closed = (await drawbridge.cloud.timeline()).filter(
        (entry) => entry.target === group(8) && entry.event === 'closed',
      );
      expect(closed.map((entry) => entry.fromPort)).toEqual([80]);
    });

    it('to a missing target fails the session after minutes, with the provider’s message, and revokes the old rule', async () => {
      const missing = 'sg-0fffffffffffffff0';
      const resource = await verifiedResource(org, 9);
      const session = await org.started({ ipv4Address: '203.0.113.22', resourceIds: [resource.id] });
      await org.reaches(session.id, 'ACTIVE');
      await org.admin.expect(200, patch(resource.id, { resourceIdentifier: missing }));
      const [waiting] = await until('it says why it waits', async () => {
        const { resourceIps } = await org.session(session.id);
        return resourceIps[0]!.errorMessage?.includes(missing) && resourceIps;
      });
      expect(waiting!.status).toBe('PENDING');
      await org.waitedTooLong(session.id);
      const { resourceIps } = await org.reaches(session.id, 'FAILED');
      expect(resourceIps[0]!.errorMessage).toContain(missing);
      await until('the old rule is out', async () => (await opened(group(9))).length === 0);
    });
  });
});
