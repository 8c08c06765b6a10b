import { Client } from 'pg';
import { callsTo, historyOf } from '../../builders/sessions/cloud-history';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

describe('F. Partial failures of PostgreSQL', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge, sshTo(5));

  beforeAll(async () => {
    await drawbridge.query('CREATE SEQUENCE refusals');
  });
  watchEachTest(() => drawbridge);

  /** Makes the next `times` status writes fail within their transaction. */
  const failSettlements = async (failure: string, times: number): Promise<void> => {
    await drawbridge.query(`ALTER SEQUENCE refusals RESTART`);
    await drawbridge.query(`CREATE OR REPLACE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF nextval('refusals') <= ${times} THEN ${failure}; END IF; RETURN NEW; END $$`);
    await drawbridge.query(
      `CREATE OR REPLACE TRIGGER meet BEFORE UPDATE ON resource_ips FOR EACH ROW
       WHEN (OLD.status IN ('PENDING', 'REMOVING') AND NEW.status <> OLD.status AND NEW.status <> 'REMOVING')
       EXECUTE FUNCTION meet()`,
    );
  };

  const runSession = async (index: number): Promise<void> => {
    const { id } = await org.started({ ipv4Address: '203.0.113.1', resourceIds: [org.resourceIds[index]] });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.query(`ALTER SEQUENCE refusals RESTART`);
    await org.expire(id);
    await org.reaches(id, 'EXPIRED');
    expect(await historyOf(drawbridge.cloud, { target: group(index) })).toEqual(['opened', 'closed']);
    expect(await callsTo(drawbridge.cloud, group(index), 'Authorize')).toBe(1);
    expect(await callsTo(drawbridge.cloud, group(index), 'Revoke')).toBe(1);
  };

  it('the connection ends between the cloud call and the commit: the effect of the call is read, not repeated [F2]', async () => {
    await failSettlements('PERFORM pg_terminate_backend(pg_backend_pid())', 1);
    await runSession(0);
  });

  it.each([
    ['a deadlock', '40P01', 1],
    ['a serialization failure', '40001', 2],
  ])('%s: the transaction is retried, the cloud call is not [F3]', async (_what, code, index) => {
    await failSettlements(`RAISE EXCEPTION 'chosen as the victim' USING ERRCODE = '${code}'`, 3);
    await runSession(index);
  });

  it('all connections of the API are in use: the worker removes rules in time with its own [F4]', async () => {
    await failSettlements('NULL', 0);
    const { id } = await org.started({ ipv4Address: '203.0.113.2', resourceIds: [org.resourceIds[3]] });
    await org.reaches(id, 'ACTIVE');
    const blocker = new Client({ connectionString: drawbridge.databaseUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE');
    const stuck = Array.from({ length: 40 }, (_, index) =>
      org.admin.post('/sessions', { ipv4Address: '203.0.113.3' }, { 'Idempotency-Key': `stuck-${index}` }),
    );
    await until('every connection of the API waits', async () => {
      const [row] = await drawbridge.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = 'drawbridge-api' AND wait_event_type = 'Lock'`,
      );
      return row!.count >= 20;
    });
    await org.expire(id);
    await until(
      'it is closed',
      async () => (await historyOf(drawbridge.cloud, { address: '203.0.113.2' })).length === 2,
    );
    await blocker.query('ROLLBACK');
    await blocker.end();
    const answers = await Promise.all(stuck);
    expect(answers.every(({ status }) => [200, 409, 503].includes(status))).toBe(true);
    await org.reaches(id, 'EXPIRED');
  });

  // Without an older build, this tests the current code on a newer schema.
  it('processes keep working while a migration of the next release adds columns and indexes [F7]', async () => {
    const tables = await drawbridge.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND relname NOT LIKE 'chaos_%'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const life = async (address: string): Promise<void> => {
      const { id } = await org.started({ ipv4Address: address, resourceIds: [org.resourceIds[4]] });
      await org.reaches(id, 'ACTIVE');
      await org.admin.posted(`/sessions/${id}/extend`, { additionalHours: 1 });
      await org.admin.posted(`/sessions/${id}/stop`);
      await org.reaches(id, 'CANCELLED');
    };
    const over = new AbortController();
    let lives = 0;
    const going = (async () => {
      while (!over.signal.aborted) {
        lives += 1;
        await life(`198.51.100.${lives}`);
      }
    })();
    for (const { name } of tables) {
      await drawbridge.query(`ALTER TABLE "${name}" ADD COLUMN of_the_next_release text DEFAULT 'new'`);
      await drawbridge.query(`CREATE INDEX ON "${name}" (of_the_next_release)`);
    }
    over.abort();
    await going;
    await life('203.0.113.5');
  });
});
