import { historyOf } from '../../builders/sessions/cloud-history';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

interface FailingRule {
  readonly last_error: string | null;
  readonly attempts: number;
  readonly waits: boolean;
}

describe('E. A rule on which the worker always fails', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge, sshTo(4));
  const other = ownOrganization(drawbridge, sshTo(4));

  beforeAll(async () => {
    await drawbridge.query(`CREATE TABLE failing (address text, status text)`);
    await drawbridge.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF EXISTS (SELECT FROM failing WHERE address = NEW.ip_address AND status = NEW.status) THEN
        RAISE EXCEPTION 'this row cannot be written';
      END IF; RETURN NEW; END $$`);
    await drawbridge.query(
      `CREATE TRIGGER refuse BEFORE UPDATE ON resource_ips FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
  });
  watchEachTest(() => drawbridge);

  /** Makes writes of this status for the address fail. */
  const failWrites = async (address: string, status: string): Promise<void> => {
    await drawbridge.query(`INSERT INTO failing VALUES ($1, $2)`, [address, status]);
  };
  const allowWrites = async (address: string, status: string): Promise<void> => {
    await drawbridge.query(`DELETE FROM failing WHERE address = $1 AND status = $2`, [address, status]);
  };
  const ruleOf = async (address: string): Promise<FailingRule | undefined> => {
    const rows = await drawbridge.query<FailingRule>(
      `SELECT last_error, attempts, due_at > now() AS waits FROM rules WHERE address = $1`,
      [`${address}/32`],
    );
    return rows[0];
  };
  const triedAgain = (address: string, times: number): Promise<boolean> =>
    until(
      `${address} was tried ${times} times`,
      async () => ((await ruleOf(address))?.attempts ?? 0) >= times,
    );

  it('while it is added: other sessions start and end, its error is recorded, and retries back off [E9]', async () => {
    const [bad, good] = ['203.0.113.10', '203.0.113.11'];
    await failWrites(bad, 'APPLIED');
    const stuck = await org.started({ ipv4Address: bad, resourceIds: [org.resourceIds[0]] });
    await triedAgain(bad, 2);
    const neighbours = await Promise.all([
      org.started({ ipv4Address: good, resourceIds: [org.resourceIds[0]] }),
      org.started({ ipv4Address: good, holder: 'elsewhere', resourceIds: [org.resourceIds[1]] }),
    ]);
    for (const { id } of neighbours) {
      await org.reaches(id, 'ACTIVE');
      await org.expire(id);
      await org.reaches(id, 'EXPIRED');
    }
    await triedAgain(bad, 4);
    expect((await ruleOf(bad))!.last_error).toMatch(/^An unexpected failure \(QueryFailedError\)/);
    await until('it waits for its next retry', async () => (await ruleOf(bad))!.waits);
    expect((await org.session(stuck.id)).status).toBe('PENDING');
    await allowWrites(bad, 'APPLIED');
    await org.reaches(stuck.id, 'ACTIVE');
    await org.admin.posted(`/sessions/${stuck.id}/stop`);
    await org.reaches(stuck.id, 'CANCELLED');
    expect(await historyOf(drawbridge.cloud, { address: bad })).toEqual(['opened', 'closed']);
  });

  it('while it is removed: it is removed in the cloud, and shown as removed once that can be written [E9]', async () => {
    const sessions = new Map<string, string>();
    for (const ipv4Address of ['203.0.113.20', '203.0.113.21', '203.0.113.22']) {
      const { id } = await org.started({ ipv4Address, resourceIds: [org.resourceIds[2]] });
      await org.reaches(id, 'ACTIVE');
      sessions.set(ipv4Address, id);
    }
    const rules = await drawbridge.query<{ address: string }>(
      `SELECT split_part(address, '/', 1) AS address FROM rules WHERE split_part(address, '/', 1) = ANY ($1) ORDER BY id`,
      [[...sessions.keys()]],
    );
    const inOrder = rules.map(({ address }) => address);
    // the middle one: one other rule is written before it and one after
    const [bad, ...neighbours] = [1, 0, 2].map((index) => inOrder[index]!) as [string, string, string];
    const stuck = sessions.get(bad)!;
    await failWrites(bad, 'REMOVED');
    await drawbridge.query('UPDATE sessions SET expires_at = now() WHERE id = ANY ($1)', [
      [...sessions.values()],
    ]);
    for (const address of neighbours) await org.reaches(sessions.get(address)!, 'EXPIRED');
    await triedAgain(bad, 2);
    expect(await historyOf(drawbridge.cloud, { target: group(2), address: bad })).toEqual([
      'opened',
      'closed',
    ]);
    expect((await org.session(stuck)).status).toBe('EXPIRING');
    await allowWrites(bad, 'REMOVED');
    await org.reaches(stuck, 'EXPIRED');
  });

  it('a credential that cannot be decrypted: other organizations on the target are served [E9]', async () => {
    const address = '203.0.113.40';
    await drawbridge.query(`UPDATE credentials SET sealed_data = 'null' WHERE id = $1`, [other.credentialId]);
    const broken = await other.started({ ipv4Address: address, resourceIds: [other.resourceIds[3]] });
    await until('it was tried', async () => (await ruleOf(address))?.last_error);
    const { id } = await org.started({ ipv4Address: '203.0.113.41', resourceIds: [org.resourceIds[3]] });
    await org.reaches(id, 'ACTIVE');
    expect((await other.session(broken.id)).status).not.toBe('ACTIVE');
    await other.admin.posted(`/sessions/${broken.id}/stop`);
    await other.reaches(broken.id, 'CANCELLED');
  });
});
