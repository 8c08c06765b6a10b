import { randomUUID } from 'node:crypto';
import { colleague } from '../../builders/accounts/colleague';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { matching } from '../../harness/matching';

interface Refusal {
  readonly message: string;
  readonly validationErrors?: Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;
const hours = ({ startedAt, expiresAt }: Session): number =>
  (Date.parse(expiresAt) - Date.parse(startedAt)) / HOUR_MS;

let lastOctet = 0;
/** An address that no other session here has. */
const fresh = (): string => `203.0.113.${(lastOctet += 1)}`;

describe('4.2 Sessions: POST /sessions', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { SESSION_DEFAULT_HOURS: '6' } });
  const org = ownOrganization(drawbridge, [
    { group: group(0), config: { port: 22 } },
    { group: group(1), config: { port: 22 } },
  ]);

  beforeAll(async () => {
    // no worker: a session stays PENDING
  });

  const refusal = async (body: object, client: ApiClient = org.admin): Promise<Answer<Refusal>> =>
    client.post<Refusal>('/sessions', body);
  const onTier = async <T>(tier: string, work: () => Promise<T>): Promise<T> => {
    const set = (to: string): Promise<object[]> =>
      drawbridge.query('UPDATE organizations SET subscription_tier = $2 WHERE id = $1', [
        org.organizationId,
        to,
      ]);
    await set(tier);
    try {
      return await work();
    } finally {
      await set('PAID');
    }
  };
  const withRoleHours = async <T>(roleId: string, max: number, work: () => Promise<T>): Promise<T> => {
    const set = (to: number | null): Promise<object[]> =>
      drawbridge.query('UPDATE roles SET max_session_duration_hours = $2 WHERE id = $1', [roleId, to]);
    await set(max);
    try {
      return await work();
    } finally {
      await set(null);
    }
  };
  const makeActive = (id: string, active: boolean): Promise<object[]> =>
    drawbridge.query('UPDATE resources SET is_active = $2 WHERE id = $1', [id, active]);

  it('answers 200 with a session that is PENDING', async () => {
    const started = await org.start({ ipv4Address: fresh() });
    expect(started).toMatchObject({ status: 200, body: { status: 'PENDING' } });
  });

  it('takes a key with sessions:write; the session is its user’s and the audit record names the key', async () => {
    const key = await org.apiKey(['sessions:write']);
    const { body } = await key.post<Session>('/sessions', { ipv4Address: fresh() });
    expect(body.userId).toBe(org.adminId);
    const [record] = await drawbridge.query(
      `SELECT actor_type, details->>'apiKey' AS name FROM audit_records
       WHERE resource_id = $1 AND event_type = 'SESSION_STARTED'`,
      [body.id],
    );
    expect(record).toEqual({ actor_type: 'API_KEY', name: 'pipeline' });
  });

  it('with waitSeconds answers PENDING when nothing happens before their end, and 400 beyond 30', async () => {
    const started = await org.admin.post<Session>('/sessions?waitSeconds=1', { ipv4Address: fresh() });
    expect(started).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    const refused = await org.admin.post('/sessions?waitSeconds=31', { ipv4Address: fresh() });
    expect(refused).toMatchObject({
      status: 400,
      body: { validationErrors: { waitSeconds: matching(/./) } },
    });
  });

  it('takes null for a field that was left out', async () => {
    const nothing = { durationHours: null, ipv4Address: null, ipv6Address: null, resourceIds: null };
    const { status, body } = await org.admin.post<Session>('/sessions', nothing);
    expect({ status, hours: hours(body), address: body.ipv4Address }).toEqual({
      status: 200,
      hours: 6,
      address: '127.0.0.1',
    });
  });

  it('has the server’s default duration unless one is given', async () => {
    expect(hours(await org.started({ ipv4Address: fresh() }))).toBe(6);
  });

  it('lowers the default to the maximum', async () => {
    const session = await onTier('FREE', () => org.started({ ipv4Address: fresh() }));
    expect(hours(session)).toBe(4);
  });

  it.each([
    ['FREE', 4],
    ['PAID', 24],
  ])(
    'allows on %s %i hours, and answers 400 to one more, naming the number and the plan',
    async (tier, most) => {
      await onTier(tier, async () => {
        expect(hours(await org.started({ ipv4Address: fresh(), durationHours: most }))).toBe(most);
        const { status, body } = await refusal({ ipv4Address: fresh(), durationHours: most + 1 });
        expect(status).toBe(400);
        expect(body.validationErrors!.durationHours).toMatch(new RegExp(`${most}.*${tier} plan`, 'i'));
      });
    },
  );

  it('limits the duration to the role’s hours, and the 400 names the role', async () => {
    await withRoleHours(org.roleId, 2, async () => {
      expect(hours(await org.started({ ipv4Address: fresh(), durationHours: 2 }))).toBe(2);
      const { status, body } = await refusal({ ipv4Address: fresh(), durationHours: 3 });
      expect(status).toBe(400);
      expect(body.message).toMatch(/2.*role "Developers"/);
    });
  });

  it('takes the most generous role of a resource, and the strictest resource of those chosen', async () => {
    const role = await org.admin.created<{ id: string }>('/roles', {
      name: randomUUID(),
      maxSessionDurationHours: 8,
    });
    await org.admin.posted(`/roles/${role.id}/users/${org.adminId}`);
    await org.admin.posted(`/roles/${role.id}/resources/${org.resourceIds[0]}`);
    await withRoleHours(org.roleId, 3, async () => {
      const resourceIds = [org.resourceIds[0]];
      expect(hours(await org.started({ ipv4Address: fresh(), durationHours: 8, resourceIds }))).toBe(8);
      expect((await refusal({ ipv4Address: fresh(), durationHours: 4 })).body.message).toMatch(/at most 3/);
      const shown = await org.admin.get<{ maxSessionDurationHours?: number }[]>('/resources?assigned=true');
      expect(shown.body.map(({ maxSessionDurationHours }) => maxSessionDurationHours)).toEqual([8, 3]);
    });
  });

  it.each([0, -1, 1.5, '2', 1e300])('refuses with 400 a durationHours of %p', async (durationHours) => {
    const { status, body } = await refusal({ ipv4Address: fresh(), durationHours });
    expect({ status, fields: Object.keys(body.validationErrors ?? {}) }).toEqual({
      status: 400,
      fields: ['durationHours'],
    });
  });

  it('covers all active resources of the user’s roles, and with resourceIds those only', async () => {
    const resources = ({ resourceIps }: Session): string[] =>
      resourceIps.map((ip) => ip.resourceId).toSorted();
    expect(resources(await org.started({ ipv4Address: fresh() }))).toEqual([...org.resourceIds].toSorted());
    const [one] = org.resourceIds;
    const spelled = [one, one!.toUpperCase()];
    expect(resources(await org.started({ ipv4Address: fresh(), resourceIds: spelled }))).toEqual([one]);
  });

  it('covers the resources of all the user’s roles; what a role is given later counts for new sessions only', async () => {
    const [first, second] = org.resourceIds;
    const role = async (resourceId: string): Promise<string> => {
      const { id } = await org.admin.created<{ id: string }>('/roles', { name: randomUUID() });
      await org.admin.posted(`/roles/${id}/resources/${resourceId}`);
      return id;
    };
    const user = await colleague(org, [await role(first!)]);
    const start = (): Promise<Session> => user.client.posted<Session>('/sessions', { ipv4Address: fresh() });
    const before = await start();
    await org.admin.posted(`/roles/${await role(second!)}/users/${user.id}`);
    const resources = ({ resourceIps }: Session): string[] =>
      resourceIps.map((ip) => ip.resourceId).toSorted();
    expect(resources(await start())).toEqual([...org.resourceIds].toSorted());
    expect(resources(await org.session(before.id))).toEqual([first]);
  });

  it('leaves out inactive resources, and answers 400 when one is asked for', async () => {
    const [active, inactive] = org.resourceIds;
    await makeActive(inactive!, false);
    try {
      const session = await org.started({ ipv4Address: fresh() });
      expect(session.resourceIps.map((ip) => ip.resourceId)).toEqual([active]);
      expect((await org.start({ ipv4Address: fresh(), resourceIds: [inactive] })).status).toBe(400);
    } finally {
      await makeActive(inactive!, true);
    }
  });

  describe('with resourceNames', () => {
    const covered = async (given: object, client = org.admin): Promise<string[]> => {
      const { resourceIps } = await client.posted<Session>('/sessions', { ipv4Address: fresh(), ...given });
      return resourceIps.map(({ resourceName }) => resourceName).toSorted();
    };
    const renamed = async (id: string, name: string, work: () => Promise<void>): Promise<void> => {
      const rename = (to: string): Promise<object[]> =>
        drawbridge.query('UPDATE resources SET name = $2 WHERE id = $1', [id, to]);
      await rename(name);
      try {
        await work();
      } finally {
        await rename(`resource-${org.resourceIds.indexOf(id)}`);
      }
    };

    it('covers those, and those of resourceIds, each once', async () => {
      const [first, second] = org.resourceIds;
      expect(await covered({ resourceNames: ['resource-1'] })).toEqual(['resource-1']);
      const both = { resourceNames: ['RESOURCE-0', first!.slice(0, 13)], resourceIds: [first, second] };
      expect(await covered(both)).toEqual(['resource-0', 'resource-1']);
    });

    it('is 404 for a name that there is not, also of another organization, with the user’s own', async () => {
      const { client } = await colleague(org, [org.roleId]);
      const body = { ipv4Address: fresh(), resourceNames: ['resource'] };
      expect(await refusal(body, client)).toMatchObject({
        status: 404,
        body: { message: 'There is no resource "resource": there are "resource-0", "resource-1"' },
      });
    });

    it('is 403 for one that is not assigned to the user, and names no other', async () => {
      const { client } = await colleague(org, []);
      const asked = (name: string): Promise<Answer<Refusal>> =>
        refusal({ ipv4Address: fresh(), resourceNames: [name] }, client);
      expect(await asked('resource-0')).toMatchObject({ status: 403 });
      expect((await asked('resource')).body.message).toBe(
        'There is no resource "resource": there are no resources yet',
      );
    });

    it('is 400 for a name of several, with their ids, and takes the only one of the user', async () => {
      const [first, second] = org.resourceIds;
      await renamed(second!, 'resource-0', async () => {
        const { status, body } = await refusal({ ipv4Address: fresh(), resourceNames: ['resource-0'] });
        expect({ status, names: [first, second].every((id) => body.message.includes(id!)) }).toEqual({
          status: 400,
          names: true,
        });
        const role = await org.admin.created<{ id: string }>('/roles', { name: randomUUID() });
        await org.admin.posted(`/roles/${role.id}/resources/${first}`);
        const { client } = await colleague(org, [role.id]);
        expect(await covered({ resourceNames: ['resource-0'] }, client)).toEqual(['resource-0']);
      });
    });

    it.each([[[]], [['']], [[7]], ['resource-0'], [['x'.repeat(201)]], [Array(101).fill('x')]])(
      '%j is 400',
      async (resourceNames) => {
        expect(await refusal({ ipv4Address: fresh(), resourceNames })).toMatchObject({
          status: 400,
          body: { validationErrors: { resourceNames: matching(/^must/) } },
        });
      },
    );
  });

  it('answers 404 to a resource that is missing and to one of another organization', async () => {
    const other = await organization(drawbridge, [{ group: group(2) }]);
    for (const id of [randomUUID(), other.resourceIds[0]]) {
      expect((await org.start({ ipv4Address: fresh(), resourceIds: [id] })).status).toBe(404);
    }
  });

  it('answers 403 to a resource that is not assigned to the user, and 400 when none is', async () => {
    const { client } = await colleague(org, []);
    expect((await refusal({ ipv4Address: fresh(), resourceIds: org.resourceIds }, client)).status).toBe(403);
    expect((await refusal({ ipv4Address: fresh() }, client)).status).toBe(400);
  });

  it.each([[[]], [['database']], ['all']])('refuses with 400 resourceIds of %j', async (resourceIds) => {
    const { status, body } = await refusal({ ipv4Address: fresh(), resourceIds });
    expect(status).toBe(400);
    expect(Object.keys(body.validationErrors!)[0]).toContain('resourceIds');
  });

  it('answers 403 in a suspended organization, to extend too; stop and reads work', async () => {
    const other = await organization(drawbridge, [{ group: group(3) }]);
    const { id } = await other.started({ ipv4Address: fresh() });
    await drawbridge.query('UPDATE organizations SET suspended_at = now() WHERE id = $1', [
      other.organizationId,
    ]);
    expect((await other.start({ ipv4Address: fresh() })).status).toBe(403);
    expect((await other.admin.post(`/sessions/${id}/extend`, { additionalHours: 1 })).status).toBe(403);
    expect((await other.admin.get(`/sessions/${id}`)).status).toBe(200);
    expect((await other.admin.post(`/sessions/${id}/stop`)).status).toBe(200);
  });

  it('answers 409 when a live session of the user holds the address, naming it, in either family', async () => {
    const addresses = { ipv4Address: fresh(), ipv6Address: '2001:db8:1::1' };
    const { id } = await org.started(addresses);
    const clashes = [
      { ipv4Address: addresses.ipv4Address },
      { ipv4Address: fresh(), ipv6Address: addresses.ipv6Address },
    ];
    for (const body of clashes) {
      const { status, body: told } = await refusal(body);
      expect(status).toBe(409);
      expect(told.message).toContain(id);
    }
  });

  it('allows another user and another holder the same address', async () => {
    const ipv4Address = fresh();
    await org.started({ ipv4Address });
    expect((await org.start({ ipv4Address, holder: 'build-1' })).status).toBe(200);
    expect((await org.start({ ipv4Address, holder: 'build-1' })).status).toBe(409);
    const { client } = await colleague(org);
    expect((await client.post('/sessions', { ipv4Address })).status).toBe(200);
  });

  it('takes a holder of 64 characters, and refuses a longer one with 400', async () => {
    expect((await org.start({ ipv4Address: fresh(), holder: 'x'.repeat(64) })).status).toBe(200);
    expect((await org.start({ ipv4Address: fresh(), holder: 'x'.repeat(65) })).status).toBe(400);
  });

  it('may start again while the old session is EXPIRING', async () => {
    const ipv4Address = fresh();
    const { id } = await org.started({ ipv4Address });
    await org.admin.posted(`/sessions/${id}/stop`);
    expect(await org.session(id)).toMatchObject({ status: 'EXPIRING' });
    expect((await org.start({ ipv4Address })).status).toBe(200);
  });
});
