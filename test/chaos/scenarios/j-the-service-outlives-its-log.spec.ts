import { organization, type Organization } from '../../builders/organization';
import { Drawbridge } from '../../harness/drawbridge';
import type { Reader } from '../../harness/processes';

/** More than a pipe and what stands before it hold. */
const REQUESTS = 1500;
const AT_ONCE = 30;

describe('J. Deploy and operations: the log', () => {
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false });
    org = await organization(drawbridge);
  });
  afterAll(() => drawbridge.stop());

  const throughItsLife = async (ipv4Address: string): Promise<void> => {
    const { id } = await org.started({ ipv4Address });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED');
  };

  it.each<[Reader, string, string]>([
    ['nobody', 'a log that nobody reads holds neither API nor worker up', '203.0.113.20'],
    ['full disk', 'a log on a full disk ends neither API nor worker', '203.0.113.21'],
  ])('%s: %s [J4]', async (reader, _promise, address) => {
    const quiet = { LOG_LEVEL: 'trace', RATE_LIMIT_PER_MINUTE: '1000000' };
    const [api, worker] = await Promise.all([
      drawbridge.startApi(quiet, reader),
      drawbridge.startWorker(quiet, reader),
    ]);
    const url = `http://127.0.0.1:${api.port}/api/v1/detect-ip`;
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch(url)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(AT_ONCE).fill(200));
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
    await throughItsLife(address);
    expect(await Promise.all([api.stop('SIGTERM'), worker.stop('SIGTERM')])).toEqual([0, 0]);
  });
});
