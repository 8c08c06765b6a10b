import { randomUUID } from 'node:crypto';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { group, organization, ownOrganization } from '../builders/accounts/organization';
import { ApiClient, type Answer, type Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

interface Started extends Session {
  readonly sessionToken?: string;
}
type Refusable = Started & { readonly message: string };

/** A key of the organization and its id. */
interface Key {
  readonly id: string;
  readonly client: ApiClient;
}

describe('A session token serves its session only', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let addresses = 0;

  const request = (): object => ({ ipv4Address: `203.0.113.${(addresses += 1)}`, leaseSeconds: 300 });
  const started = async (client: ApiClient = org.admin): Promise<Required<Started>> => {
    const session = await client.posted<Started>('/sessions', request());
    expect(session.sessionToken).toMatch(/^dbs_[\w-]{43}$/);
    return session as Required<Started>;
  };
  const send = (token: string, method: string, path: string, body?: object): Promise<Answer<Refusable>> =>
    drawbridge.api.send(method, path, body, { Authorization: `Session ${token}` });
  const key = async (userId?: string): Promise<Key> => {
    const asked = {
      name: randomUUID(),
      scopes: ['sessions:write', 'sessions:read'],
      ...(userId && { userId }),
    };
    const made = await org.admin.created<{ id: string; plainTextKey: string }>('/api-keys', asked);
    return { id: made.id, client: drawbridge.api.as({ apiKey: made.plainTextKey }) };
  };
  /** The statuses of what the token is for. */
  const uses = async ({ id, sessionToken }: Required<Started>): Promise<number[]> => {
    const read = await send(sessionToken, 'GET', `/sessions/${id}`);
    return [read.status, (await send(sessionToken, 'POST', `/sessions/${id}/renew`)).status];
  };

  it('reads, renews and stops its session, which the audit trail shows', async () => {
    const { id, sessionToken } = await started();
    const read = await send(sessionToken, 'GET', `/sessions/${id}?waitSeconds=30`);
    expect(read).toMatchObject({ status: 200, body: { id, status: 'ACTIVE' } });
    expect(read.body.sessionToken).toBeUndefined();
    expect((await send(sessionToken, 'POST', `/sessions/${id}/renew`)).status).toBe(200);
    expect((await send(sessionToken, 'POST', `/sessions/${id}/stop`)).status).toBe(200);
    const records = await drawbridge.query(
      `SELECT actor_type, actor_id, actor_email FROM audit_records
       WHERE event_type = 'SESSION_STOPPED' AND resource_id = $1`,
      [id],
    );
    expect(records).toEqual([{ actor_type: 'SESSION', actor_id: id, actor_email: org.adminEmail }]);
    const logs = await org.admin.get<{ content: object[] }>(`/audit-logs?eventType=SESSION_STOPPED`);
    expect(JSON.stringify(logs.body)).toContain('"actorType":"SESSION"');
  });

  it('a session without a lease has none', async () => {
    expect(await org.started({ ipv4Address: '198.51.100.7' })).not.toHaveProperty('sessionToken');
  });

  it('ends with its session: stopped, or its lease lost', async () => {
    const one = await started();
    await org.reaches(one.id, 'ACTIVE');
    expect((await send(one.sessionToken, 'POST', `/sessions/${one.id}/stop`)).status).toBe(200);
    await org.reaches(one.id, 'CANCELLED');
    expect(await uses(one)).toEqual([401, 401]);
    expect((await send(one.sessionToken, 'POST', `/sessions/${one.id}/stop`)).status).toBe(401);
    const lost = await started();
    await drawbridge.query('UPDATE sessions SET lease_until = now() WHERE id = $1', [lost.id]);
    expect((await send(lost.sessionToken, 'POST', `/sessions/${lost.id}/renew`)).status).toBe(409);
    await org.reaches(lost.id, 'EXPIRED');
    expect(await uses(lost)).toEqual([401, 401]);
  });

  it('shows a stopped session until its rules are removed, and renews it no more', async () => {
    const guarded = await organization(drawbridge, [{ group: group(1), config: { port: 22 } }]);
    const { id, sessionToken } = await started(guarded.admin);
    await guarded.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      kind: 'error',
      target: group(1),
      operation: 'RevokeSecurityGroupIngress',
      seconds: 600,
    });
    expect((await send(sessionToken, 'POST', `/sessions/${id}/stop`)).status).toBe(200);
    expect((await send(sessionToken, 'GET', `/sessions/${id}`)).body).toMatchObject({ status: 'EXPIRING' });
    expect((await send(sessionToken, 'POST', `/sessions/${id}/renew`)).status).toBe(409);
    await drawbridge.cloud.clearFaults();
    await guarded.reaches(id, 'CANCELLED');
  });

  it('ends with its user', async () => {
    const person: Colleague = await colleague(org);
    const session = await started(person.client);
    expect(await uses(session)).toEqual([200, 200]);
    // without the end of the sessions that the API's deactivation brings with it
    await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [person.id]);
    expect(await uses(session)).toEqual([401, 401]);
  });

  it.each([
    ['revoked', 'revoked_at'],
    ['expired', 'expires_at'],
  ])('ends with the key that started its session: %s', async (_, column) => {
    const { id, client } = await key();
    const [session, other] = [await started(client), await started()];
    expect(await uses(session)).toEqual([200, 200]);
    await drawbridge.query(`UPDATE api_keys SET ${column} = now() WHERE id = $1`, [id]);
    expect(await uses(session)).toEqual([401, 401]);
    expect(await uses(other)).toEqual([200, 200]);
  });

  it('a suspended organization can read, renew and stop', async () => {
    const suspended = await organization(drawbridge);
    const session = await started(suspended.admin);
    await suspended.suspend();
    expect(await uses(session)).toEqual([200, 200]);
    expect((await send(session.sessionToken, 'POST', `/sessions/${session.id}/stop`)).status).toBe(200);
  });

  it('a repeated request gets the same token, also from another process, and with a wait', async () => {
    const { client } = await key();
    const body = request();
    const idempotent = { 'Idempotency-Key': randomUUID() };
    const first = await client.posted<Started>('/sessions?waitSeconds=30', body, idempotent);
    const again = await client.posted<Started>('/sessions', body, idempotent);
    expect(again).toMatchObject({ id: first.id, sessionToken: first.sessionToken });
    const { port } = await drawbridge.startApi();
    const elsewhere = new ApiClient(`http://127.0.0.1:${port}/api/v1`, client.identity);
    expect(await elsewhere.posted<Started>('/sessions', body, idempotent)).toMatchObject({
      id: first.id,
      sessionToken: first.sessionToken,
    });
    expect(await uses(first as Required<Started>)).toEqual([200, 200]);
  });

  it('no table contains one', async () => {
    const { client } = await key();
    const idempotent = { 'Idempotency-Key': randomUUID() };
    const { id, sessionToken } = await client.posted<Started>('/sessions', request(), idempotent);
    await send(sessionToken!, 'POST', `/sessions/${id}/renew`);
    await send(sessionToken!, 'POST', `/sessions/${id}/extend`);
    await send(sessionToken!, 'POST', `/sessions/${id}/stop`);
    // the search finds what is stored: the hash
    const [{ hash } = { hash: '' }] = await drawbridge.query<{ hash: string }>(
      `SELECT encode(sha256($1::text::bytea), 'hex') AS hash`,
      [sessionToken],
    );
    expect(await tablesWith(hash)).toEqual(['public.sessions']);
    expect(await tablesWith(sessionToken!)).toEqual([]);
    expect(await tablesWith('dbs_')).toEqual([]);
  });

  /** The tables in which a column of any type contains the text. */
  async function tablesWith(text: string): Promise<string[]> {
    const tables = await drawbridge.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    expect(tables.length).toBeGreaterThan(30);
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await drawbridge.query(
        `SELECT 1 FROM ${name} AS known WHERE strpos(known::text, $1) > 0 LIMIT 1`,
        [text],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  }
});
