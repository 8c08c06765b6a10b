import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

describe('Readiness requires a database that accepts writes', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false });
    await drawbridge.startWorker({ METRICS_PORT: '0' });
  });
  afterAll(() => drawbridge.stop());

  const ofApi = (): string => `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/health/ready`;
  const ofWorker = (): string => `http://127.0.0.1:${drawbridge.worker.port}/health/ready`;

  /** A setting counts for new connections: those that are open are ended. */
  const makeReadOnly = async (isReadOnly: boolean): Promise<void> => {
    await drawbridge.query(`BEGIN READ WRITE;
      DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${isReadOnly}', current_database()); END $$;
      COMMIT`);
    await drawbridge.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  };

  const bothAnswer = (status: number): Promise<unknown> =>
    until(`API and worker answer ${status}`, async () => {
      const answers = await Promise.all([fetch(ofApi()), fetch(ofWorker())]);
      return answers.every((answer) => answer.status === status);
    });

  it('in the API and in the worker, and ready again as soon as it accepts them', async () => {
    await bothAnswer(200);
    await makeReadOnly(true);
    await bothAnswer(503);
    expect(await (await fetch(ofApi())).json()).toMatchObject({ status: 'DOWN', database: 'DOWN' });
    expect(await (await fetch(ofWorker())).text()).toContain('accepts no writes');
    // and stays so: no connection is left that may write
    await bothAnswer(503);
    await makeReadOnly(false);
    await bothAnswer(200);
  });
});
