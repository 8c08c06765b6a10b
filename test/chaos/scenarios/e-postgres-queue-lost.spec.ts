import { group, organization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { watchEachTest } from './watch-each-test';

/** Wake-ups only reduce latency; the sweep guarantees the work. */
describe('E. The queue in PostgreSQL is lost', () => {
  const drawbridge = Drawbridge.own();

  watchEachTest(() => drawbridge);

  it('sessions start and end by the sweep while the tables of the queue are missing [E4]', async () => {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    await drawbridge.query('ALTER SCHEMA bullmq RENAME TO bullmq_away');
    const { id } = await org.started({ ipv4Address: '203.0.113.120' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    await drawbridge.query('ALTER SCHEMA bullmq_away RENAME TO bullmq');
    const again = await org.started({ ipv4Address: '203.0.113.121' });
    await org.reaches(again.id, 'ACTIVE');
  });
});
