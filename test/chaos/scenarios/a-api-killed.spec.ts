import { historyOf } from '../../builders/sessions/cloud-history';
import { ownOrganization } from '../../builders/accounts/organization';
import { ApiClient, type Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { HeldAnswers } from '../../harness/database/held-answers';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

describe('A. An API is killed with SIGKILL after the commit of a session, before its answer', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge);
  const watch = watchEachTest(() => drawbridge);

  it('a retry with the same Idempotency-Key gets the same session [A6]', async () => {
    const [key, ipv4Address] = ['killed-before-the-answer', '203.0.113.2'];
    const headers = { 'Idempotency-Key': key };
    const connection = await HeldAnswers.to(drawbridge.databaseUrl);
    const api = await drawbridge.startApi({ DATABASE_URL: connection.url });
    const caller = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
    await caller.expect(200, caller.get('/sessions'));
    connection.holdAfter('COMMIT');
    const answer = caller.post('/sessions', { ipv4Address }, headers).catch(() => 'in doubt');
    const { id } = await until('the session is committed', async () => {
      const rows = await drawbridge.query<{ id: string }>('SELECT id FROM sessions');
      return rows[0];
    });
    await api.stop('SIGKILL');
    expect(await answer).toBe('in doubt');
    await connection.close();
    const again = await org.admin.post<Session>('/sessions', { ipv4Address }, headers);
    expect(again).toMatchObject({ status: 200, body: { id } });
    watch().keySent(key, ipv4Address, id);
    await org.reaches(id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { address: ipv4Address })).toEqual(['opened']);
  });
});
