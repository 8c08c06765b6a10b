import { group, organization, type Organization } from '../../builders/organization';
import { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

const OBJECTS = 30;
const RULES = 300;
const SLOTS = 8;
const ofStuck = (index: number): string => group(index + 1);

describe('R. Many at once', () => {
  let drawbridge: Drawbridge;
  let stuck: Organization;
  let other: Organization;
  let watch: Watch;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({
      worker: false,
      simulator: { SIMULATOR_GROUPS: String(OBJECTS + 1) },
    });
    await drawbridge.startWorker({ WORKER_CONCURRENCY: String(SLOTS) });
    other = await organization(drawbridge);
    stuck = await organization(
      drawbridge,
      Array.from({ length: OBJECTS }, (_, index) => ({ group: ofStuck(index), config: { port: 22 } })),
    );
    watch = await Watch.begin(drawbridge);
  });
  afterAll(() => drawbridge.stop());

  const countOf = async (query: string): Promise<number> => {
    const [row] = await drawbridge.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${query}`);
    return row!.count;
  };

  const startedOnEach = async (): Promise<string[]> => {
    const start = async (index: number): Promise<string> => {
      const resourceIds = [stuck.resourceIds[index % OBJECTS]!];
      const ipv4Address = `203.0.${112 + (index >> 8)}.${index & 255}`;
      return (await stuck.started({ ipv4Address, resourceIds })).id;
    };
    const ids = await Promise.all(Array.from({ length: RULES }, (_, index) => start(index)));
    await until(
      'all are ACTIVE',
      async () => (await countOf(`sessions WHERE status = 'ACTIVE'`)) === RULES,
      60_000,
    );
    return ids;
  };

  const hangingCalls = async (): Promise<number> =>
    (await drawbridge.cloud.calls()).filter(({ outcome }) => outcome === 'NO_ANSWER').length;

  it('one organization’s objects all hang: another one’s session opens and closes before them [R19]', async () => {
    const ids = await startedOnEach();
    const fault = watch.fault('the objects of one organization hang');
    for (let index = 0; index < OBJECTS; index += 1) {
      await drawbridge.cloud.fault({ kind: 'timeout-before', target: ofStuck(index) });
    }
    await Promise.all(ids.map((id) => stuck.admin.expect(200, stuck.admin.post(`/sessions/${id}/stop`))));
    await until('the slots are full of what hangs', async () => (await hangingCalls()) >= SLOTS / 2);

    const before = await hangingCalls();
    const { id } = await other.started({ ipv4Address: '198.51.100.1' });
    await other.reaches(id, 'ACTIVE');
    await other.admin.expect(200, other.admin.post(`/sessions/${id}/stop`));
    await other.reaches(id, 'CANCELLED');

    // who waits for its turn in one line with all the others would be behind a call for every object
    expect((await hangingCalls()) - before).toBeLessThan(OBJECTS / 2);
    expect(await countOf(`resource_ips WHERE status = 'REMOVING'`)).toBe(RULES);
    await drawbridge.cloud.clearFaults();
    fault.end();
    await watch.holds({ withinMs: 90_000 });
  }, 180_000);
});
