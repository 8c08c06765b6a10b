import { group, organization } from '../../builders/organization';
import { Drawbridge } from '../../harness/drawbridge';
import { judged } from './judged';

/** A wake-up is a courtesy; the sweep is the promise. */
describe('E. With the queue lost, sessions start and end a second later', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
  });
  afterAll(() => drawbridge.stop());
  judged(() => drawbridge);

  it('POST /sessions succeeds while the tables of the queue are away, the sweep does the work [E4]', async () => {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    await drawbridge.query('ALTER SCHEMA bullmq RENAME TO bullmq_away');
    const { id } = await org.started({ ipv4Address: '203.0.113.120' });
    await org.reaches(id, 'ACTIVE', 8000);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED', 8000);
    await drawbridge.query('ALTER SCHEMA bullmq_away RENAME TO bullmq');
    const again = await org.started({ ipv4Address: '203.0.113.121' });
    await org.reaches(again.id, 'ACTIVE', 8000);
  });
});
