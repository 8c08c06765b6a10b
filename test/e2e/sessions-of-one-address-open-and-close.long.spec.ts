import { ownOrganization, sshTo } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';

const ROUNDS = 15;
const AT_ONCE = 5;
const WAVES = 4;

/** As of the jobs of a pipeline behind one address: they share a rule on each of two targets, which settle beside each other. */
describe('Sessions of one address', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(2));

  it('that start and stop at once all open, and all close', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ids: string[] = [];
      for (let wave = 0; wave < WAVES; wave += 1) {
        const started = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, index) =>
            org.started({ ipv4Address: '203.0.113.77', holder: `job ${round} ${wave} ${index}` }),
          ),
        );
        ids.push(...started.map(({ id }) => id));
        for (const { id } of started) await org.reaches(id, 'ACTIVE');
      }
      await Promise.all(ids.map((id) => org.admin.posted(`/sessions/${id}/stop`)));
      for (const id of ids) await org.reaches(id, 'CANCELLED');
    }
  });
});
