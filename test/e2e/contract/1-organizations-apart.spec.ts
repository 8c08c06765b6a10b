import {
  furnishedOrganization,
  readablePaths,
  type FurnishedOrganization,
} from '../../builders/console/furnished-organization';
import { group } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

describe('1 Organizations are apart', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let mine: FurnishedOrganization;
  let theirs: FurnishedOrganization;

  beforeAll(async () => {
    // one target and one address: what is shared in the cloud is apart here all the same
    [mine, theirs] = await Promise.all([
      furnishedOrganization(drawbridge, { group: group(0) }, '203.0.113.1'),
      furnishedOrganization(drawbridge, { group: group(0) }, '203.0.113.1'),
    ]);
  });

  const isOfPlatform = (path: string): boolean => path.startsWith('/platform');

  /** Every id in every answer that the organization's admin gets. */
  const idsSeenBy = async (org: FurnishedOrganization): Promise<Set<string>> => {
    const seen = new Set<string>();
    for (const path of (await readablePaths(org)).filter((one) => !isOfPlatform(one))) {
      const answer = await org.admin.get(path);
      expect([path, answer.status]).toEqual([path, 200]);
      for (const [id] of JSON.stringify(answer.body).matchAll(UUID)) seen.add(id);
    }
    return seen;
  };

  it('no answer to one shows an id of another, only those of plans and in examples are the same', async () => {
    const [seenHere, seenThere] = [await idsSeenBy(mine), await idsSeenBy(theirs)];
    for (const id of [mine.sessionId, mine.staticIpRuleId, mine.apiKeyId, mine.userId, mine.credentialId])
      expect(seenHere).toContain(id);
    const { body: plans } = await mine.admin.get<{ id: string }[]>('/billing/plans');
    const { body: types } = await mine.admin.get('/resources/types');
    const examples = [...JSON.stringify(types).matchAll(UUID)].map(([id]) => id);
    const shared = [...seenHere].filter((id) => seenThere.has(id));
    expect(shared.toSorted()).toEqual([...plans.map(({ id }) => id), ...new Set(examples)].toSorted());
  });

  it.each([
    ['/sessions', () => `resourceId=${theirs.resourceIds[0]}`],
    ['/sessions/admin', () => `resourceId=${theirs.resourceIds[0]}`],
    ['/sessions/admin', () => `userId=${theirs.adminId}`],
    ['/users', () => `roleId=${theirs.roleId}`],
    ['/audit-logs', () => `resourceId=${theirs.roleId}`],
    ['/resource-health/events', () => `resourceId=${theirs.resourceIds[0]}`],
  ])(
    '%s filtered by an id of another finds nothing: neither an error nor its objects',
    async (path, query) => {
      const filtered = `${path}?${query()}`;
      const listed = async (org: FurnishedOrganization): Promise<unknown[]> => {
        const body = await org.admin.expect(200, org.admin.get<unknown[] | { content: unknown[] }>(filtered));
        return Array.isArray(body) ? body : body.content;
      };
      expect(await listed(mine)).toEqual([]);
      expect((await listed(theirs)).length).toBeGreaterThan(0);
    },
  );
});
