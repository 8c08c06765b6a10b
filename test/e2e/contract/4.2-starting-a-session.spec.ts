import { randomUUID } from 'node:crypto';
import { colleague } from '../../builders/accounts/colleague';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import { paid } from '../../builders/accounts/people';
import { ApiClient, type Answer, type Session } from '../../harness/product/api-client';
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
  // no worker: a session stays PENDING
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, [
    { group: group(0), config: { port: 22 } },
    { group: group(1), config: { port: 22 } },
  ]);

  const refusal = async (body: object, client: ApiClient = org.admin): Promise<Answer<Refusal>> =>
    client.post<Refusal>('/sessions', body);
  const onTier = async <T>(tier: string, work: () => Promise<T>): Promise<T> => {
    await paid(drawbridge, org.organizationId, tier);
    try {
      return await work();
    } finally {
      await paid(drawbridge, org.organizationId);
    }
  };
  const makeActive = (id: string, active: boolean): Promise<object[]> =>
    drawbridge.query('UPDATE resources SET is_active = $2 WHERE id = $1', [id, active]);

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
    const session = await org.started(nothing);
    expect([hours(session), session.ipv4Address]).toEqual([1, '127.0.0.1']);
  });

  it('has the server’s default duration unless one is given, lowered to the maximum', async () => {
    const { port } = await drawbridge.startApi({ SESSION_DEFAULT_HOURS: '6' });
    const admin = new ApiClient(`http://127.0.0.1:${port}/api/v1`).as(org.admin.identity);
    const start = (): Promise<Session> => admin.posted<Session>('/sessions', { ipv4Address: fresh() });
    expect(hours(await start())).toBe(6);
    expect(hours(await onTier('FREE', start))).toBe(4);
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

  it('takes the most generous role of a resource, and the strictest resource of those chosen', async () => {
    const role = await org.admin.created<{ id: string }>('/roles', {
      name: randomUUID(),
      maxSessionDurationHours: 8,
    });
    await org.admin.posted(`/roles/${role.id}/users/${org.adminId}`);
    await org.admin.posted(`/roles/${role.id}/resources/${org.resourceIds[0]}`);
    const limit = (maxSessionDurationHours: number | null): Promise<unknown> =>
      org.admin.expect(200, org.admin.patch(`/roles/${org.roleId}`, { maxSessionDurationHours }));
    await limit(3);
    const resourceIds = [org.resourceIds[0]];
    expect(hours(await org.started({ ipv4Address: fresh(), durationHours: 8, resourceIds }))).toBe(8);
    expect(hours(await org.started({ ipv4Address: fresh(), durationHours: 3 }))).toBe(3);
    expect(await refusal({ ipv4Address: fresh(), durationHours: 4 })).toMatchObject({
      status: 400,
      body: { message: matching(/at most 3.*role "Developers"/) },
    });
    const shown = await org.admin.get<{ maxSessionDurationHours?: number }[]>('/resources?assigned=true');
    expect(shown.body.map(({ maxSessionDurationHours }) => maxSessionDurationHours)).toEqual([8, 3]);
    await limit(null);
  });

  it('refuses with 400 a durationHours that is none, naming the field', async () => {
    for (const durationHours of [0, 1.5, '2', 1e300]) {
      const { status, body } = await refusal({ ipv4Address: fresh(), durationHours });
      expect([status, Object.keys(body.validationErrors ?? {})]).toEqual([400, ['durationHours']]);
    }
  });

  const resources = ({ resourceIps }: Session): string[] => resourceIps.map((ip) => ip.resourceId).toSorted();

  it('covers all active resources of the user’s roles, and with resourceIds those only', async () => {
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
    const rename = (id: string, name: string): Promise<object[]> =>
      drawbridge.query('UPDATE resources SET name = $2 WHERE id = $1', [id, name]);

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
      await rename(second!, 'resource-0');
      const { status, body } = await refusal({ ipv4Address: fresh(), resourceNames: ['resource-0'] });
      expect(status).toBe(400);
      for (const id of [first, second]) expect(body.message).toContain(id);
      const asked = { name: randomUUID(), resourceIds: [first] };
      const role = await org.admin.created<{ id: string }>('/roles', asked);
      const { client } = await colleague(org, [role.id]);
      expect(await covered({ resourceNames: ['resource-0'] }, client)).toEqual(['resource-0']);
      await rename(second!, 'resource-1');
    });

    it.each([[[]], [['']], [['x'.repeat(201)]], [Array(101).fill('x')]])(
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

  it.each([[[]], [['database']]])('refuses with 400 resourceIds of %j', async (resourceIds) => {
    const { status, body } = await refusal({ ipv4Address: fresh(), resourceIds });
    expect([status, Object.keys(body.validationErrors!)]).toEqual([400, ['resourceIds']]);
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
});
