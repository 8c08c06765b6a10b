import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { newcomer } from '../../builders/accounts/people';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { repeatRace, ROUNDS, randomDelay } from '../rounds';
import { Watch } from '../oracles/watch';

const LONG_MS = 60_000 + ROUNDS * 20_000;

describe('I. Races of administrative operations with sessions', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(2));
  let watch: Watch;
  let made = 0;

  beforeAll(async () => {
    watch = await Watch.begin(drawbridge);
  });
  afterEach(() => watch.verify(), LONG_MS);

  const fresh = (): string => `198.51.100.${(made += 1)}`;

  const addresses = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target)).map(({ address }) => address);

  it(
    'a user is deleted while starting a session: refused, or started and ended; no rule stays [I1]',
    () =>
      repeatRace(async () => {
        const user = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
        const ipv4Address = fresh();
        const deleted = randomDelay(40).then(() => org.admin.delete(`/users/${user.id}`));
        await randomDelay(40);
        const { status, body } = await user.client.post<Session>('/sessions', { ipv4Address });
        expect((await deleted).status).toBe(204);
        // 400: still signed in, but without a role
        expect([200, 400, 401, 404]).toContain(status);
        const ended = status === 200 ? await org.reaches(body.id, 'CANCELLED') : null;
        expect([undefined, 'ADMIN']).toContain(ended?.endedReason);
        expect([...(await addresses(group(0))), ...(await addresses(group(1)))]).not.toContain(ipv4Address);
      }),
    LONG_MS,
  );

  const resourceOn = async (target: string): Promise<string> => {
    const named = { name: `moving ${fresh()}`, credentialId: org.credentialId, provider: 'AWS' };
    const targetFields = {
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: target,
      region: 'eu-central-1',
    };
    const { id } = await org.admin.created<{ id: string }>('/resources', {
      ...named,
      ...targetFields,
      config: { port: 22 },
    });
    await org.admin.posted(`/resources/${id}/verify`);
    await org.admin.posted(`/roles/${org.roleId}/resources/${id}`);
    return id;
  };

  /** A resource is in use until its rules are removed. */
  const endAndDelete = async (sessionId: string, resourceId: string): Promise<void> => {
    watch.acknowledged(sessionId);
    await org.reaches(sessionId, 'ACTIVE');
    await org.admin.expect(400, org.admin.delete(`/resources/${resourceId}`));
    await org.admin.posted(`/sessions/${sessionId}/stop`);
    await org.reaches(sessionId, 'CANCELLED');
    await org.admin.expect(204, org.admin.delete(`/resources/${resourceId}`));
  };

  it(
    'a resource is deleted while a session starts on it: one of them is refused, and no orphan remains [I2]',
    () =>
      repeatRace(async () => {
        const resourceId = await resourceOn(group(2));
        const ipv4Address = fresh();
        const deleting = randomDelay(30).then(() =>
          org.admin.delete<{ error: string } | null>(`/resources/${resourceId}`),
        );
        await randomDelay(30);
        const start = await org.start({ ipv4Address, resourceIds: [resourceId] });
        const deleted = await deleting;
        expect([start.status === 200, deleted.status === 204].filter(Boolean)).toHaveLength(1);
        if (start.status === 200) await endAndDelete(start.body.id, resourceId);
        expect(await addresses(group(2))).toEqual([]);
        const answer = await org.admin.get(`/resources/${resourceId}`);
        expect(answer.status).toBe(404);
      }),
    LONG_MS,
  );

  it(
    'a resource moves while its session is being applied: the rule is on the new target only [I4]',
    () =>
      repeatRace(async (round) => {
        const resourceId = await resourceOn(group(3));
        const { id, resourceIps } = await org.started({ ipv4Address: fresh(), resourceIds: [resourceId] });
        watch.acknowledged(id);
        const { ipAddress } = resourceIps[0]!;
        if (round % 2 === 0) await org.reaches(id, 'ACTIVE');
        else await randomDelay(300);
        const moved = { resourceIdentifier: group(4), config: { port: 2222 } };
        await org.admin.expect(200, org.admin.patch(`/resources/${resourceId}`, moved));
        await org.reaches(id, 'ACTIVE');
        await until(
          'the rule is in the new group only',
          async () =>
            (await addresses(group(3))).length === 0 && (await addresses(group(4))).includes(ipAddress),
        );
        await org.admin.posted(`/sessions/${id}/stop`);
        await org.reaches(id, 'CANCELLED');
        expect([...(await addresses(group(3))), ...(await addresses(group(4)))]).toEqual([]);
        await org.admin.expect(204, org.admin.delete(`/resources/${resourceId}`));
      }),
    LONG_MS,
  );
});
