import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

const TARGETS = 30;
const RULES = 300;
const SLOTS = 8;
/** of the organization that is stuck; the first group is the other one's */
const STUCK = Array.from({ length: TARGETS }, (_, index) => index + 1);

describe('R. Fair share between organizations', () => {
  const drawbridge = Drawbridge.own({
    worker: false,
    simulator: { SIMULATOR_GROUPS: String(TARGETS + 1) },
  });
  const stuck = ownOrganization(drawbridge, sshTo(STUCK));
  const other = ownOrganization(drawbridge);
  let watch: Watch;

  beforeAll(async () => {
    await drawbridge.startWorker({ WORKER_CONCURRENCY: String(SLOTS) });
    watch = await Watch.begin(drawbridge);
  });

  const countOf = async (query: string): Promise<number> => {
    const [row] = await drawbridge.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${query}`);
    return row!.count;
  };

  const startedOnEach = async (): Promise<string[]> => {
    const start = async (index: number): Promise<string> => {
      const resourceIds = [stuck.resourceIds[index % TARGETS]!];
      const ipv4Address = `203.0.${112 + (index >> 8)}.${index & 255}`;
      return (await stuck.started({ ipv4Address, resourceIds })).id;
    };
    const ids = await Promise.all(Array.from({ length: RULES }, (_, index) => start(index)));
    await until('all are ACTIVE', async () => (await countOf(`sessions WHERE status = 'ACTIVE'`)) === RULES);
    return ids;
  };

  const hangingCalls = async (): Promise<number> =>
    (await drawbridge.cloud.calls()).filter(({ outcome }) => outcome === 'NO_ANSWER').length;

  it('while all targets of one organization hang, a session of another one starts and ends [R19]', async () => {
    const ids = await startedOnEach();
    const fault = watch.fault('the targets of one organization hang');
    for (const index of STUCK) await drawbridge.cloud.fault({ kind: 'timeout-before', target: group(index) });
    await Promise.all(ids.map((id) => stuck.admin.posted(`/sessions/${id}/stop`)));
    await until('the slots are occupied by hanging calls', async () => (await hangingCalls()) >= SLOTS / 2);

    const before = await hangingCalls();
    const { id } = await other.started({ ipv4Address: '198.51.100.1' });
    await other.reaches(id, 'ACTIVE');
    await other.admin.posted(`/sessions/${id}/stop`);
    await other.reaches(id, 'CANCELLED');

    // in one common queue it would wait for a call to each of the targets
    expect((await hangingCalls()) - before).toBeLessThan(TARGETS / 2);
    expect(await countOf(`resource_ips WHERE status = 'REMOVING'`)).toBe(RULES);
    await drawbridge.cloud.clearFaults();
    fault.end();
    await watch.verify();
  });
});
