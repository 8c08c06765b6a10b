import type { ApiFailure } from '../../builders/accounts/accounts';
import { colleague, type Colleague } from '../../builders/accounts/colleague';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { LIVE, NOT_LIVE, sessionInStatus } from '../../builders/sessions/session-in-status';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const HOUR_MS = 3_600_000;

describe('4.2 Sessions: stopping and extending them', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, [{ group: group(0) }, { group: group(1) }]);
  let user: Colleague;
  const roleNamed = expect.stringContaining('role "Developers"') as string;

  beforeAll(async () => {
    // no worker: a session has the status the test gives it
    user = await colleague(org);
  });

  describe('POST /sessions/{id}/stop', () => {
    const stop = (id: string, client: ApiClient = org.admin): Promise<Answer<Session>> =>
      client.post<Session>(`/sessions/${id}/stop`);

    it.each(LIVE)(
      'ends a session that is %s: EXPIRING, MANUAL, endedAt set, ResourceIps REMOVING',
      async (status) => {
        const { id } = await sessionInStatus(org, status);
        const before = Date.now();
        const stopped = await stop(id);
        expect(stopped).toMatchObject({
          status: 200,
          body: { id, status: 'EXPIRING', endedReason: 'MANUAL' },
        });
        expect(Date.parse(stopped.body.endedAt!)).toBeGreaterThan(before - 5000);
        expect(stopped.body.resourceIps.map((ip) => ip.status)).toEqual(['REMOVING', 'REMOVING']);
      },
    );

    it('leaves a ResourceIp that is FAILED as it is', async () => {
      const { id, resourceIps } = await sessionInStatus(org, 'PARTIAL');
      await drawbridge.query(`UPDATE resource_ips SET status = 'FAILED' WHERE id = $1`, [resourceIps[0]!.id]);
      const { body } = await stop(id);
      expect(body.resourceIps.map((ip) => ip.status).toSorted()).toEqual(['FAILED', 'REMOVING']);
    });

    it.each(NOT_LIVE)('answers 400 when it is %s, saying so', async (status) => {
      const { id } = await sessionInStatus(org, status);
      const refused = await stop(id);
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).toContain(status);
    });

    it('answers 403 to another user, even an admin', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
      expect((await stop(id, org.admin)).status).toBe(403);
    });

    it('of twenty concurrent stops one succeeds, the others report that it is EXPIRING', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      const answers = await Promise.all(Array.from({ length: 20 }, () => stop(id)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array<number>(19).fill(400),
      ]);
    });
  });

  describe('POST /sessions/{id}/extend', () => {
    const extend = (
      id: string,
      additionalHours: unknown,
      client: ApiClient = org.admin,
    ): Promise<Answer<Session & ApiFailure>> => client.post(`/sessions/${id}/extend`, { additionalHours });

    it.each(LIVE)('moves expiresAt later in %s', async (status) => {
      const { id, expiresAt } = await sessionInStatus(org, status, org.admin, { durationHours: 1 });
      const extended = await extend(id, 2);
      expect(extended).toMatchObject({ status: 200, body: { id, status } });
      expect(Date.parse(extended.body.expiresAt) - Date.parse(expiresAt)).toBe(2 * HOUR_MS);
    });

    it('answers 400 to additionalHours that are none, naming the field', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      for (const additionalHours of [0, 1.5, null, undefined, 25, 3_000_000_000, 1e300]) {
        const { status, body } = await extend(id, additionalHours);
        expect([status, Object.keys(body.validationErrors ?? {})]).toEqual([400, ['additionalHours']]);
      }
    });

    it.each([
      ['FREE', 4],
      ['PAID', 24],
    ])('allows on %s %i hours from startedAt in all; 400 beyond, naming the number', async (tier, most) => {
      const { id } = await sessionInStatus(org, 'ACTIVE', org.admin, { durationHours: 1 });
      await drawbridge.query('UPDATE organizations SET subscription_tier = $2 WHERE id = $1', [
        org.organizationId,
        tier,
      ]);
      try {
        const beyond = await extend(id, most);
        expect(beyond.status).toBe(400);
        expect(beyond.body.validationErrors!['additionalHours']).toContain(`${most} hours`);
        expect((await extend(id, most - 1)).status).toBe(200);
        expect((await extend(id, 1)).status).toBe(400);
      } finally {
        await drawbridge.query(`UPDATE organizations SET subscription_tier = 'PAID' WHERE id = $1`, [
          org.organizationId,
        ]);
      }
    });

    const withRoleHours = async (hours: number, work: () => Promise<void>): Promise<void> => {
      const set = (to: number | null): Promise<unknown> =>
        drawbridge.query('UPDATE roles SET max_session_duration_hours = $2 WHERE id = $1', [org.roleId, to]);
      await set(hours);
      try {
        await work();
      } finally {
        await set(null);
      }
    };

    it('measures the maximum of the role from startedAt, not from now, and names the role', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', org.admin, { durationHours: 4 });
      await drawbridge.query(
        `UPDATE sessions SET started_at = started_at - interval '3 hours', expires_at = expires_at - interval '3 hours'
         WHERE id = $1`,
        [id],
      );
      await withRoleHours(6, async () => {
        expect((await extend(id, 2)).status).toBe(200);
        expect(await extend(id, 1)).toMatchObject({ status: 400, body: { message: roleNamed } });
      });
    });

    describe('checks the grants again', () => {
      const remove = (path: string): Promise<void> => org.admin.expect(204, org.admin.delete(path));
      const named = expect.stringContaining('"resource-0"') as string;

      it('answers 403, naming the resource, when no role of the user holds it any more', async () => {
        const { id, expiresAt } = await sessionInStatus(org, 'ACTIVE');
        await remove(`/roles/${org.roleId}/resources/${org.resourceIds[0]}`);
        try {
          expect(await extend(id, 1)).toMatchObject({ status: 403, body: { message: named } });
          const now = await org.admin.expect(200, org.admin.get<Session>(`/sessions/${id}`));
          expect(now).toMatchObject({ status: 'ACTIVE', expiresAt });
        } finally {
          await org.admin.post(`/roles/${org.roleId}/resources/${org.resourceIds[0]}`);
        }
      });

      it('answers 403 when the user lost the role, whatever the plan allows', async () => {
        const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
        await remove(`/roles/${org.roleId}/users/${user.id}`);
        try {
          expect((await extend(id, 1, user.client)).status).toBe(403);
        } finally {
          await org.admin.post(`/roles/${org.roleId}/users/${user.id}`);
        }
      });

      it('answers 403 when a resource of the session is inactive', async () => {
        const { id } = await sessionInStatus(org, 'ACTIVE');
        const active = (isActive: boolean): Promise<unknown> =>
          drawbridge.query('UPDATE resources SET is_active = $2 WHERE id = $1', [
            org.resourceIds[1],
            isActive,
          ]);
        await active(false);
        try {
          const refused = await extend(id, 1);
          expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('inactive')]);
        } finally {
          await active(true);
        }
      });

      it('does not ask for a resource that the session does not hold', async () => {
        const { id, resourceIps } = await sessionInStatus(org, 'PARTIAL');
        const [failed] = resourceIps;
        await drawbridge.query(`UPDATE resource_ips SET status = 'FAILED' WHERE id = $1`, [failed!.id]);
        await remove(`/roles/${org.roleId}/resources/${failed!.resourceId}`);
        try {
          expect((await extend(id, 1)).status).toBe(200);
        } finally {
          await org.admin.post(`/roles/${org.roleId}/resources/${failed!.resourceId}`);
        }
      });
    });

    it.each(NOT_LIVE)('answers 409 when it is %s', async (status) => {
      const { id } = await sessionInStatus(org, status);
      const refused = await extend(id, 1);
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain(status);
    });

    it('answers 409 when its time is over and it was not swept yet', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      await org.expire(id);
      expect((await extend(id, 1)).status).toBe(409);
    });

    it('answers 403 to another user', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
      expect((await extend(id, 1, org.admin)).status).toBe(403);
    });
  });

  describe('POST /sessions/admin/{id}/stop', () => {
    const stop = (id: string, client: ApiClient = org.admin): Promise<Answer<Session>> =>
      client.post<Session>(`/sessions/admin/${id}/stop`);

    it('ends anybody’s session: EXPIRING, ADMIN, endedAt set, ResourceIps REMOVING', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
      const stopped = await stop(id);
      expect(stopped).toMatchObject({ status: 200, body: { id, status: 'EXPIRING', endedReason: 'ADMIN' } });
      expect(stopped.body.endedAt).not.toBeNull();
      expect(stopped.body.resourceIps.map((ip) => ip.status)).toEqual(['REMOVING', 'REMOVING']);
      expect((await stop(id)).status).toBe(400);
    });

    it('says ADMIN for the admin’s own session too', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      expect((await stop(id)).body.endedReason).toBe('ADMIN');
    });
  });
});
