import { Agent, get, type IncomingMessage } from 'node:http';
import { Client } from 'pg';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';

describe('J. Deploy and operations: graceful shutdown', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(1));

  /** Sends a request to one API process, as the organization's admin. */
  const ask = (api: AppProcess, path: string, agent: Agent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { identity } = org.admin;
      const headers = { Authorization: `Bearer ${identity && 'token' in identity ? identity.token : ''}` };
      get({ host: '127.0.0.1', port: api.port, path: `/api/v1${path}`, agent, headers }, (response) => {
        response.resume();
        response.once('end', () => resolve(response));
      }).once('error', reject);
    });

  it('an API reports not ready before it stops accepting requests [J1]', async () => {
    const api = await drawbridge.startApi({ DRAIN_SECONDS: '2' });
    const agent = new Agent({ keepAlive: true });
    expect((await ask(api, '/health/ready', agent)).statusCode).toBe(200);
    const ended = api.stop('SIGTERM');
    const unready = await until('it is not ready', async () => {
      const answer = await ask(api, '/health/ready', agent);
      return answer.statusCode === 503 && answer;
    });
    expect(unready.headers.connection).toBe('close');
    expect((await ask(api, '/sessions?size=1', agent)).statusCode).toBe(200);
    expect(await ended).toBe(0);
    agent.destroy();
  });

  it('an API exits while its database does not answer [J1]', async () => {
    const api = await drawbridge.startApi();
    const agent = new Agent();
    const holder = new Client({ connectionString: drawbridge.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
    const asked = ask(api, '/sessions?size=1', agent).catch((error: Error) => error);
    expect(await api.stop('SIGTERM')).not.toBeNull();
    await asked;
    await holder.end();
  });

  it('a worker in a slow cloud call releases its lease, and another one takes its target over [J1]', async () => {
    const first = await drawbridge.startWorker();
    const slow = { target: group(0), delayMs: 30_000, count: 1 };
    await drawbridge.cloud.fault({ kind: 'slow', operation: 'AuthorizeSecurityGroupIngress', ...slow });
    const { id } = await org.started({ ipv4Address: '203.0.113.11', resourceIds: [org.resourceIds[0]] });
    await until('the add is in flight', async () => {
      const rows = await drawbridge.query(
        'SELECT 1 FROM rules WHERE address = $1 AND in_flight_until > now()',
        ['203.0.113.11/32'],
      );
      return rows.length > 0;
    });
    await first.stop('SIGTERM');
    expect(await drawbridge.query('SELECT id FROM targets WHERE lease_until > now()')).toEqual([]);
    const changes = async (): Promise<string[]> =>
      (await drawbridge.cloud.timeline())
        .filter(({ address }) => address === '203.0.113.11')
        .map(({ event }) => event);
    // it did not wait for the cloud
    expect(await changes()).toEqual([]);
    await drawbridge.startWorker();
    await org.reaches(id, 'ACTIVE');
    expect(await changes()).toEqual(['opened']);
  });
});
