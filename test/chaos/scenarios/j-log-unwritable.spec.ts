import { ownOrganization } from '../../builders/accounts/organization';
import { Drawbridge, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import type { Reader } from '../../harness/product/processes';

/** More output than the pipe and its buffers can hold. */
const REQUESTS = 1500;
const BATCH_SIZE = 30;

describe('J. Deploy and operations: the log', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge);

  const runSession = async (ipv4Address: string): Promise<void> => {
    const { id } = await org.started({ ipv4Address });
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  };

  it.each<[Reader, string, string]>([
    ['nobody', 'a log that is not read blocks neither API nor worker', '203.0.113.20'],
    ['full disk', 'a log on a full disk stops neither API nor worker', '203.0.113.21'],
  ])('%s: %s [J4]', async (reader, _promise, address) => {
    const settings = { LOG_LEVEL: 'trace', ...TESTERS_LIMIT };
    const [api, worker] = await Promise.all([
      drawbridge.startApi(settings, reader),
      drawbridge.startWorker(settings, reader),
    ]);
    const url = `http://127.0.0.1:${api.port}/api/v1/detect-ip`;
    for (let sent = 0; sent < REQUESTS; sent += BATCH_SIZE) {
      const answers = await Promise.all(Array.from({ length: BATCH_SIZE }, () => fetch(url)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(BATCH_SIZE).fill(200));
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
    await runSession(address);
    expect(await Promise.all([api.stop('SIGTERM'), worker.stop('SIGTERM')])).toEqual([0, 0]);
  });
});
