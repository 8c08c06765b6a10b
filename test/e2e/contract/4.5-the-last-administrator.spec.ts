import type { User } from '../../builders/contract/answers';
import { ownOrganization } from '../../builders/accounts/organization';
import { email, founder, newcomer, paid, type Person } from '../../builders/accounts/people';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.5 Users', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;

  beforeAll(async () => {
    admin = org.admin;
  });

  const added = (body: object = {}, by = admin): Promise<User> =>
    by.created<User>('/users', { email: email(), ...body });

  describe('the last active administrator', () => {
    it.each([
      ['be deleted', (own: Person) => own.client.delete(`/users/${own.id}`)],
      ['be deactivated', (own: Person) => own.client.patch(`/users/${own.id}`, { isActive: false })],
      ['be demoted', (own: Person) => own.client.patch(`/users/${own.id}`, { isOrgAdmin: false })],
    ])('cannot %s: 400, and stays one', async (_, attempt) => {
      const own = await founder(drawbridge);
      // neither a user nor a deactivated administrator could take over
      await added({}, own.client);
      const second = await added({ isOrgAdmin: true }, own.client);
      await own.client.expect(200, own.client.patch(`/users/${second.id}`, { isActive: false }));
      expect(await attempt(own)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('last active administrator') as string },
      });
      expect((await own.client.get(`/users/${own.id}`)).body).toMatchObject({
        isOrgAdmin: true,
        isActive: true,
      });
    });

    it('may change name, and is nothing special once there is another', async () => {
      const own = await founder(drawbridge);
      expect((await own.client.patch(`/users/${own.id}`, { name: 'Me', isOrgAdmin: true })).status).toBe(200);
      await newcomer(drawbridge, own.client, { isOrgAdmin: true });
      expect((await own.client.delete(`/users/${own.id}`)).status).toBe(204);
      expect((await own.client.get('/users')).status).toBe(401);
    });

    it('remains after every race of two administrators who remove each other', async () => {
      let survivor = await founder(drawbridge);
      let rival = await newcomer(drawbridge, survivor.client, { isOrgAdmin: true });
      await paid(drawbridge, survivor.organizationId);
      const fates = {
        delete: (by: Person, other: Person) => by.client.delete(`/users/${other.id}`),
        deactivate: (by: Person, other: Person) => by.client.patch(`/users/${other.id}`, { isActive: false }),
        demote: (by: Person, other: Person) => by.client.patch(`/users/${other.id}`, { isOrgAdmin: false }),
      };
      // what a round is lost by is made good for the next: demotions cost least and are tried most
      const rounds = (
        [
          ...Array.from({ length: 8 }, () => ['demote', 'demote'] as const),
          ['delete', 'delete'],
          ['delete', 'demote'],
          ['deactivate', 'deactivate'],
          ['deactivate', 'delete'],
        ] as const
      ).toReversed();
      for (const [first, second] of rounds) {
        const answers = await Promise.all([fates[first](survivor, rival), fates[second](rival, survivor)]);
        const won = answers.map(({ status }) => status < 300);
        expect(won.filter(Boolean)).toHaveLength(1);
        // the loser is refused as the last administrator, or because it was removed already
        expect([400, 401, 403]).toContain(answers[won.indexOf(false)]!.status);
        if (!won[0]) [survivor, rival] = [rival, survivor];
        const admins = await drawbridge.query<{ id: string }>(
          'SELECT id FROM users WHERE organization_id = $1 AND is_org_admin AND is_active',
          [survivor.organizationId],
        );
        expect(admins).toEqual([{ id: survivor.id }]);
        const back = (won[0] ? first : second) === 'demote';
        if (back) {
          await survivor.client.expect(
            200,
            survivor.client.patch(`/users/${rival.id}`, { isOrgAdmin: true }),
          );
        } else rival = await newcomer(drawbridge, survivor.client, { isOrgAdmin: true });
      }
    });
  });
});
