import { ownOrganization } from '../builders/accounts/organization';
import { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { LossyNetwork } from '../harness/network/lossy-network';
import { hasNetworks, sayNotTested } from '../harness/network/network';
import type { AppProcess } from '../harness/product/processes';
import { endConnections, setReadOnly } from '../harness/database/read-only';
import { SeverableConnection } from '../harness/database/severable-connection';
import { until } from '../harness/until';

/** From the end of a fault, or from the stop, until nothing is open. */
const CLOSED_WITHIN_MS = 60_000;

const withNetwork = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('a network that drops packets');

describe('Closing survives faults of the connections to the database', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge);
  let way: SeverableConnection;
  let api: AppProcess | undefined;
  let worker: AppProcess | undefined;
  let frozen: SeverableConnection;
  let hanging: AppProcess;
  let addresses = 0;

  beforeAll(async () => {
    way = await SeverableConnection.to(drawbridge.databaseUrl);
    // it takes a minute to end: beside the others
    frozen = await SeverableConnection.to(drawbridge.databaseUrl);
    hanging = await drawbridge.startWorker({ DATABASE_URL: frozen.url });
    frozen.freeze();
    await runAt(way.url);
  });
  afterAll(async () => {
    await way.cut();
    await frozen.cut();
  });

  /** From now on, one API and one worker run with this DATABASE_URL. */
  async function runAt(DATABASE_URL: string): Promise<void> {
    await Promise.all([api?.stop(), worker?.stop()]);
    api = await drawbridge.startApi({ DATABASE_URL });
    worker = await drawbridge.startWorker({ DATABASE_URL });
  }

  const client = (): ApiClient => new ApiClient(`http://127.0.0.1:${api!.port}/api/v1`, org.admin.identity);

  const opened = async (): Promise<string> => {
    addresses += 1;
    const { id } = await org.opened({ ipv4Address: `203.0.113.${addresses}` });
    return id;
  };

  /** Stops the session as soon as the API can, and waits until nothing is open. */
  const closes = async (id: string): Promise<void> => {
    await until(
      'it is stopped',
      async () => (await client().post(`/sessions/${id}/stop`)).status === 200,
      CLOSED_WITHIN_MS,
    );
    await org.reaches(id, 'CANCELLED', CLOSED_WITHIN_MS);
    expect(await drawbridge.cloud.rules()).toEqual([]);
  };

  it('a network that forgets the open connections', async () => {
    const id = await opened();
    way.forget();
    await closes(id);
  });

  it('a server that was read-only when they were made', async () => {
    const id = await opened();
    await setReadOnly(drawbridge, true);
    await endConnections(drawbridge);
    const ready = `http://127.0.0.1:${api!.port}/api/v1/health/ready`;
    await until('the API notices', async () => (await fetch(ready)).status === 503);
    await until('the worker notices', async () => /no writes|read-only/.test(worker!.output));
    await setReadOnly(drawbridge, false);
    await closes(id);
  });

  withNetwork('with a network of its own', () => {
    it('one that drops every packet for a while', async () => {
      const lossy = await LossyNetwork.to(drawbridge.databaseUrl);
      await runAt(lossy.url);
      const id = await opened();
      lossy.drop();
      await until('the worker notices', async () => worker!.output.includes('Query read timeout'));
      lossy.restore();
      await closes(id);
      await Promise.all([api!.stop(), worker!.stop()]);
      lossy.stop();
    });
  });

  it('a worker whose sweep has hung for a minute: it ends, to be started again', async () => {
    await until('it has ended', async () => hanging.hasEnded);
    expect(await hanging.stop()).toBe(1);
    expect(hanging.output).toContain('No sweep has succeeded for a minute');
  });
});
