import { callsTo, historyOf } from '../../builders/sessions/cloud-history';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
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

  it('sessions start and end by the sweep while the tables of the queue are missing [E4]', async () => {
    await failSettlements('NULL', 0);
    await drawbridge.query('ALTER SCHEMA bullmq RENAME TO bullmq_away');
    await runSession(3);
    // it is not needed to close rules
    expect(await drawbridge.api.get('/health/ready')).toMatchObject({ status: 200 });
    await drawbridge.query('ALTER SCHEMA bullmq_away RENAME TO bullmq');
    const { id } = await org.started({ ipv4Address: '203.0.113.2', resourceIds: [org.resourceIds[4]] });
    await org.reaches(id, 'ACTIVE');
  });
});
