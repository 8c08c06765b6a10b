import type { Schemas } from '#client';
import { AuthorizeSecurityGroupIngressCommand, EC2Client } from '@aws-sdk/client-ec2';
import { group, ownOrganization, SIMULATED_KEY, sshTo } from '../builders/accounts/organization';
import { resourceBody } from '../builders/resources/resources';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

type Room = Schemas['RoomDto'];
type Plan = Schemas['SessionPlanDto'];

const LIST = 'pl-0123456789abcdef3';
/** As the simulated AWS has it, for groups and lists. */
const LIMIT = 60;

describe('How much room a target has, and how long its account makes wait,', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo([7]));
  const other = ownOrganization(drawbridge, sshTo([7]));
  let listResource: string;

  beforeAll(async () => {
    const list = { name: 'list', resourceType: 'PREFIX_LIST', resourceIdentifier: LIST };
    ({ id: listResource } = await org.resource(resourceBody(org, list)));
    // it names the group, and has proven nothing
    const unproven = 'UPDATE resources SET write_verified = false WHERE id = $1';
    await drawbridge.query(unproven, [other.resourceIds[0]]);
  });

  const onGroup = (host: number, more: object = { resourceIds: org.resourceIds }): object => ({
    ipv4Address: `203.0.113.${host}`,
    ...more,
  });
  const onList = (host: number): object => onGroup(host, { resourceIds: [listResource] });
  const rooms = async (id: string, client = org.admin): Promise<Room[] | null> =>
    (await client.read<{ room: Room[] | null }>(`/resources/${id}`)).room;
  const plan = (body: object, client = org.admin): Promise<Plan> =>
    client.posted<Plan>('/sessions/plan', body);
  const planned = async (body: object): Promise<[outcome: string, after: number | undefined]> => {
    const { resources } = await plan(body);
    return [resources[0]!.rules[0]!.outcome, resources[0]!.room?.after];
  };
  const full = async (client = org.admin): Promise<(string | null)[]> => {
    const items = await client.read<Schemas['AttentionDto'][]>('/attention?kind=TARGET_FULL');
    return items.map(({ message }) => message);
  };
  /** Fills a target by hand, up to a number of rules. */
  const fill = async (target: string, from: number, to: number): Promise<void> => {
    const rule =
      target === LIST
        ? { protocol: 'all', fromPort: 0, toPort: 0 }
        : { protocol: 'tcp', fromPort: 22, toPort: 22 };
    for (let host = from; host < to; host += 1)
      await drawbridge.cloud.addUnmanaged({ target, address: `198.51.100.${host}`, ...rule });
  };
  /** What the cloud counts, once the room that is stated is the same. */
  const counted = async (id: string, target: string): Promise<Room> => {
    await org.admin.posted(`/resources/${id}/reconcile`);
    return until('the room is that of the cloud', async () => {
      const rules = await drawbridge.cloud.rules(target);
      const used = rules.filter(({ address }) => !address.includes(':')).length;
      return (await rooms(id))?.find((room) => room.family !== 6 && room.used === used) ?? false;
    });
  };
  const refused = async (body: object): Promise<string | null> => {
    const { id } = await org.started(body);
    const { resourceIps } = await org.reaches(id, 'FAILED');
    return resourceIps[0]!.errorMessage;
  };

  it('is the usual limit of a group until it refuses more, and certain from then on', async () => {
    const [id] = org.resourceIds as [string];
    expect(await counted(id, group(7))).toMatchObject({ used: 0, limit: LIMIT, limitFrom: 'DEFAULT' });
    const session = await org.started(onGroup(1));
    await org.reaches(session.id, 'ACTIVE');
    await fill(group(7), 0, LIMIT - 2);
    expect(await counted(id, group(7))).toMatchObject({ used: LIMIT - 1 });
    expect(await planned(onGroup(2))).toEqual(['OPENS', LIMIT]);
    await fill(group(7), LIMIT - 2, LIMIT - 1);
    expect(await counted(id, group(7))).toMatchObject({ used: LIMIT, limitFrom: 'DEFAULT' });
    expect(await planned(onGroup(2))).toEqual(['MAY_BE_FULL', LIMIT + 1]);
    expect(await planned(onGroup(2, { resourceIds: org.resourceIds, replaces: session.id }))).toEqual([
      'OPENS',
      LIMIT,
    ]);
    expect(await full()).toEqual([]);

    expect(await refused(onGroup(2))).toMatch(/^The group is full: 60 of 60 rules\. /);
    expect(await planned(onGroup(2))).toEqual(['FULL', LIMIT + 1]);
    expect(await full()).toEqual(['60 of 60 rules']);
    await drawbridge.cloud.removeByHand(group(7), '198.51.100.0');
    expect(await counted(id, group(7))).toMatchObject({ used: LIMIT - 1, limitFrom: 'LEARNED' });
    expect(await planned(onGroup(2))).toEqual(['OPENS', LIMIT]);
    for (let host = 1; host < 10; host += 1)
      await drawbridge.cloud.removeByHand(group(7), `198.51.100.${host}`);
    await counted(id, group(7));
    expect(await full()).toEqual([]);
    await org.admin.posted(`/sessions/${session.id}/stop`);
    await org.reaches(session.id, 'CANCELLED');
  });

  it('counts other groups once and prefix lists whole', async () => {
    const ec2 = new EC2Client({
      endpoint: `${drawbridge.cloud.url}/aws/ec2`,
      region: 'eu-central-1',
      credentials: SIMULATED_KEY,
    });
    const [id] = org.resourceIds as [string];
    const { used } = await counted(id, group(7));
    const permission = { IpProtocol: 'tcp', FromPort: 443, ToPort: 443 };
    const add = (...IpPermissions: object[]): Promise<unknown> =>
      ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: group(7), IpPermissions }));
    await add({ ...permission, UserIdGroupPairs: [{ GroupId: group(8) }] });
    expect(await counted(id, group(7))).toMatchObject({ used: used + 1 });
    // it counts as the sixty entries that it may have
    await expect(add({ ...permission, PrefixListIds: [{ PrefixListId: LIST }] })).rejects.toThrow(/maximum/);
    ec2.destroy();
  });

  it('is what a prefix list says', async () => {
    await fill(LIST, 0, LIMIT - 1);
    const session = await org.started(onList(1));
    await org.reaches(session.id, 'ACTIVE');
    const known = { used: LIMIT, limit: LIMIT, limitFrom: 'PROVIDER' };
    expect(await counted(listResource, LIST)).toMatchObject(known);
    expect(await full()).toEqual(['60 of 60 rules']);
    expect(await planned(onList(2))).toEqual(['FULL', LIMIT + 1]);
    expect(await planned({ ...onList(1), holder: 'job' })).toEqual(['SHARED', LIMIT]);
    expect(await refused(onList(2))).toMatch(/^The list is full: 60 of 60 rules\. /);
    await org.admin.posted(`/sessions/${session.id}/stop`);
    await org.reaches(session.id, 'CANCELLED');
    for (let host = 0; host < 10; host += 1) await drawbridge.cloud.removeByHand(LIST, `198.51.100.${host}`);
    await counted(listResource, LIST);
    expect(await full()).toEqual([]);
    expect(await planned(onList(2))).toEqual(['OPENS', LIMIT - 10]);
  });

  it('is stated while its account is short of writes', async () => {
    expect((await plan(onGroup(3))).waitSeconds).toBe(0);
    const setFull = (seconds: number): Promise<unknown> =>
      drawbridge.query(
        `UPDATE write_budgets b SET full_at = now() + make_interval(secs => $2) FROM targets t
         WHERE t.account_key = b.account_key AND t.identifier = $1`,
        [group(7), seconds],
      );
    await setFull(600);
    const { waitSeconds, resources } = await plan(onGroup(3));
    expect(waitSeconds).toBe(resources[0]!.waitSeconds);
    // less the eight seconds in which the share of additions comes back
    expect([590, 595]).toContain(waitSeconds);
    const { id } = await org.started(onGroup(3));
    expect((await org.session(id)).opensInSeconds).toBeGreaterThan(500);
    await setFull(0);
    expect(await org.reaches(id, 'ACTIVE')).toMatchObject({ opensInSeconds: null });
  });

  it('is not shown to an organization that names the group and has proven nothing', async () => {
    const [id] = other.resourceIds as [string];
    const [{ room, key } = { room: null, key: null }] = await drawbridge.query<{
      room: unknown;
      key: unknown;
    }>('SELECT room, account_key AS key FROM targets WHERE identifier = $1', [group(7)]);
    expect([room, key]).not.toContain(null);
    expect(await rooms(id, other.admin)).toBeNull();
    const { resources, waitSeconds } = await plan({ ipv4Address: '203.0.113.9' }, other.admin);
    expect([resources[0]!.room, resources[0]!.waitSeconds, waitSeconds]).toEqual([null, null, null]);
    await drawbridge.query(
      `UPDATE targets SET room = jsonb_set(room, '{0}', room->0 || '{"used": 60, "limitFrom": "LEARNED"}')
       WHERE identifier = $1`,
      [group(7)],
    );
    expect([(await full()).length, await full(other.admin)]).toEqual([1, []]);
    const { id: started } = await other.started({ ipv4Address: '203.0.113.9' });
    expect(await other.session(started)).toMatchObject({ opensInSeconds: null });
  });
});
