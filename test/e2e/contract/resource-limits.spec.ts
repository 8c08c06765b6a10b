import { randomUUID } from 'node:crypto';
import { auditRecords } from '../../builders/audit/audit-trail';
import { group, organization, SIMULATED_KEY, type Organization } from '../../builders/accounts/organization';
import { resourceBody } from '../../builders/resources/resources';
import type { Answer, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const MOST = 20;

interface Resource {
  readonly id: string;
}

interface Refusal {
  readonly error: string;
  readonly message: string;
}

describe('Limits of resources, and what is known of their credentials', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  afterEach(() => drawbridge.cloud.clearFaults());

  const create = <T = Resource>(org: Organization, index: number): Promise<Answer<T>> =>
    org.admin.post<T>('/resources', resourceBody(org, { resourceIdentifier: group(index) }));

  describe('at most 20 resources of one organization per target', () => {
    let org: Organization;
    beforeAll(async () => {
      org = await organization(drawbridge, []);
    });

    it('also of those that are created at once', async () => {
      const answers = await Promise.all(Array.from({ length: MOST + 5 }, () => create<Refusal>(org, 1)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(MOST);
      const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body);
      expect(refused).toHaveLength(5);
      expect(refused[0]).toMatchObject({ error: 'VALIDATION_ERROR' });
      expect(refused[0]!.message).toMatch(new RegExp(`AWS ${group(1)}.* 20 resources`));
    });

    it('also of those that a PATCH moves there, and one that is there may still be changed', async () => {
      const { id } = await org.admin.expect(201, create(org, 2));
      const moved = await org.admin.patch<Refusal>(`/resources/${id}`, { resourceIdentifier: group(1) });
      expect(moved.status).toBe(400);
      expect(moved.body.message).toContain(group(1));
      const [there] = await drawbridge.query<Resource>(
        'SELECT id FROM resources WHERE organization_id = $1 AND resource_identifier = $2 LIMIT 1',
        [org.organizationId, group(1)],
      );
      await org.admin.expect(200, org.admin.patch(`/resources/${there!.id}`, { name: 'renamed' }));
      await org.admin.expect(204, org.admin.delete(`/resources/${there!.id}`));
      await org.admin.expect(200, org.admin.patch(`/resources/${id}`, { resourceIdentifier: group(1) }));
    });

    it('those of another organization do not count', async () => {
      const other = await organization(drawbridge, []);
      expect((await create(other, 1)).status).toBe(201);
    });
  });

  it('a request names at most 100 resources', async () => {
    const org = await organization(drawbridge);
    const many = Array.from({ length: 101 }, () => randomUUID());
    const words = { resourceIds: 'must hold at most 100 ids' };
    const start = { ipv4Address: '203.0.113.1' };
    expect(await org.admin.post('/sessions', { ...start, resourceIds: many })).toMatchObject({
      status: 400,
      body: { validationErrors: words },
    });
    expect((await org.admin.post('/sessions', { ...start, resourceIds: many.slice(1) })).status).toBe(404);
    const rule = { label: 'office', ipAddress: '198.51.100.0/24' };
    const message = 'resourceIds must hold at most 100 ids';
    expect(await org.admin.post('/static-ip-rules', { ...rule, resourceIds: many })).toMatchObject({
      status: 400,
      body: { message },
    });
    const made = await org.admin.created<Resource>('/static-ip-rules', {
      ...rule,
      resourceIds: org.resourceIds,
    });
    expect(await org.admin.patch(`/static-ip-rules/${made.id}`, { resourceIds: many })).toMatchObject({
      status: 400,
      body: { message },
    });
  });

  it('SESSION_STARTED names the resources of the session', async () => {
    const org = await organization(drawbridge, [{ group: group(3) }, { group: group(4) }]);
    const session = await org.admin.posted<Session>('/sessions', { ipv4Address: '203.0.113.1' });
    const [record] = await auditRecords(org.admin, `?resourceId=${session.id}`);
    expect(record).toMatchObject({
      eventType: 'SESSION_STARTED',
      details: { resources: org.resourceIds.map((id, index) => ({ id, name: `resource-${index}` })) },
    });
  });

  describe('whether a resource is known to be writable', () => {
    let org: Organization;
    let id: string;
    beforeEach(async () => {
      org = await organization(drawbridge, [{ group: group(5) }]);
      [id] = org.resourceIds as [string];
    });

    const stored = async (): Promise<{ verified: boolean; due: boolean }> =>
      (
        await drawbridge.query<{ verified: boolean; due: boolean }>(
          `SELECT write_verified AS verified, coalesce(verify_due_at <= now(), false) AS due FROM resources WHERE id = $1`,
          [id],
        )
      )[0]!;
    const verify = async (): Promise<number> => (await org.admin.post(`/resources/${id}/verify`)).status;

    it('is after a verification that succeeds, not after one that is refused', async () => {
      expect(await stored()).toEqual({ verified: true, due: false });
      await drawbridge.cloud.fault({ kind: 'refuse', target: group(5), count: 1 });
      expect(await verify()).toBe(400);
      expect((await stored()).verified).toBe(false);
      expect(await verify()).toBe(200);
      expect((await stored()).verified).toBe(true);
    });

    it('stays after a verification that the provider did not answer', async () => {
      await drawbridge.cloud.fault({ kind: 'throttle', target: group(5) });
      expect(await verify()).toBe(400);
      expect((await stored()).verified).toBe(true);
    });

    it.each([
      ['another target', (): object => ({ resourceIdentifier: group(6) }), false],
      ['another region', (): object => ({ region: 'eu-west-1' }), false],
      ['other ports', (): object => ({ config: { port: 23 } }), true],
      ['another name', (): object => ({ name: 'renamed' }), true],
    ])('with %s', async (_, change, expected) => {
      await org.admin.expect(200, org.admin.patch(`/resources/${id}`, change()));
      expect((await stored()).verified).toBe(expected);
    });

    it('is not with another credential', async () => {
      const body = {
        name: 'b',
        provider: 'AWS',
        credentialType: 'ACCESS_KEY',
        credentialData: SIMULATED_KEY,
      };
      const other = await org.admin.created<Resource>('/credentials', body);
      await org.admin.expect(200, org.admin.patch(`/resources/${id}`, { credentialId: other.id }));
      expect((await stored()).verified).toBe(false);
    });

    it('is not once its credential is rotated, which has it verified now', async () => {
      const never = await org.admin.expect(201, create(org, 6));
      const path = `/credentials/${org.credentialId}`;
      await org.admin.expect(200, org.admin.patch(path, { name: 'renamed' }));
      expect(await stored()).toEqual({ verified: true, due: false });
      await org.admin.expect(200, org.admin.patch(path, { credentialData: SIMULATED_KEY }));
      expect(await stored()).toEqual({ verified: false, due: true });
      const [unverified] = await drawbridge.query('SELECT verify_due_at FROM resources WHERE id = $1', [
        never.id,
      ]);
      expect(unverified).toEqual({ verify_due_at: null });
    });

    it('is by a verification in the background, too, and is not after one that is refused', async () => {
      const worker = await drawbridge.startWorker();
      const dueNow = (): Promise<object[]> =>
        drawbridge.query('UPDATE resources SET verify_due_at = now() WHERE id = $1', [id]);
      await drawbridge.query('UPDATE resources SET write_verified = false WHERE id = $1', [id]);
      await dueNow();
      await until('it is verified', async () => (await stored()).verified);
      await drawbridge.cloud.fault({ kind: 'refuse', target: group(5) });
      await dueNow();
      await until('it is refused', async () => !(await stored()).verified);
      expect(await stored()).toMatchObject({ verified: false });
      await worker.stop();
    });
  });
});
