import { randomUUID } from 'node:crypto';
import { colleague } from '../../builders/accounts/colleague';
import { ownOrganization } from '../../builders/accounts/organization';
import type { Answer, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { containing } from '../../harness/matching';

let lastOctet = 0;
/** An address that no other session here has. */
const fresh = (): string => `203.0.113.${(lastOctet += 1)}`;

describe('4.2 Sessions: Idempotency-Key on POST /sessions', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const start = (key: string, body: unknown, more: Record<string, string> = {}): Promise<Answer<Session>> =>
    org.admin.post<Session>('/sessions', body, { 'Idempotency-Key': key, ...more });
  const replayed = ({ headers }: Answer<Session>): string | null => headers.get('Idempotency-Replayed');
  const makeOld = (key: string): Promise<object[]> =>
    drawbridge.query(
      `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = $1`,
      [key],
    );

  it('answers the same key and body with the first answer, as it was then, marked as replayed', async () => {
    const [key, body] = [randomUUID(), { ipv4Address: fresh(), ipv6Address: '2001:db8::1' }];
    const first = await start(key, body);
    expect({ status: first.status, replayed: replayed(first) }).toEqual({ status: 200, replayed: null });
    await org.admin.posted(`/sessions/${first.body.id}/stop`);
    const again = await start(key, body);
    expect({ status: again.status, replayed: replayed(again) }).toEqual({ status: 200, replayed: 'true' });
    expect(again.body).toEqual(first.body);
  });

  it('takes the same fields in another order, and an unknown one more, for the same body', async () => {
    const [key, ipv4Address] = [randomUUID(), fresh()];
    await start(key, `{"ipv4Address":"${ipv4Address}","durationHours":2}`);
    expect(
      replayed(await start(key, `{ "durationHours": 2, "ipv4Address": "${ipv4Address}", "note": 1 }`)),
    ).toBe('true');
  });

  it('treats a body without an address as the same body from another client address', async () => {
    const key = randomUUID();
    const first = await start(key, { holder: key }, { 'X-Forwarded-For': '198.51.100.1' });
    const again = await start(key, { holder: key }, { 'X-Forwarded-For': '198.51.100.2' });
    expect(replayed(again)).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  it('answers 422 to another body', async () => {
    const key = randomUUID();
    await start(key, { ipv4Address: fresh() });
    const other = await start(key, { ipv4Address: fresh() });
    expect(other).toMatchObject({ status: 422, body: { error: 'Unprocessable Entity' } });
  });

  it('does not store a refused start: the key can be used again with any body', async () => {
    const [key, ipv4Address] = [randomUUID(), fresh()];
    expect((await start(key, { ipv4Address, durationHours: 99 })).status).toBe(400);
    const live = await org.started({ ipv4Address });
    expect((await start(key, { ipv4Address })).status).toBe(409);
    await org.admin.posted(`/sessions/${live.id}/stop`);
    const started = await start(key, { ipv4Address });
    expect({ status: started.status, replayed: replayed(started) }).toEqual({ status: 200, replayed: null });
  });

  it('keeps each user’s keys apart', async () => {
    const [key, body] = [randomUUID(), { ipv4Address: fresh() }];
    const mine = await start(key, body);
    const { client } = await colleague(org);
    const theirs = await client.post<Session>('/sessions', body, { 'Idempotency-Key': key });
    expect(theirs.status).toBe(200);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  it.each([
    ['empty', ''],
    ['with a blank', 'build 1'],
    ['with a tab', 'build\t1'],
    ['of letters outside ASCII', 'caf\u00e9'],
    ['of 256 characters', 'x'.repeat(256)],
  ])('answers 400 to a key that is %s, naming the header', async (_, key) => {
    const { status, body } = await start(key, { ipv4Address: fresh() });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      validationErrors: { 'Idempotency-Key': containing('1 to 255') },
    });
  });

  it('takes a key of 255 visible characters', async () => {
    expect((await start(`!~${'x'.repeat(253)}`, { ipv4Address: fresh() })).status).toBe(200);
  });

  it('forgets a key after 24 hours: it starts anew', async () => {
    const [key, body] = [randomUUID(), { ipv4Address: fresh() }];
    const first = await start(key, body);
    await org.admin.posted(`/sessions/${first.body.id}/stop`);
    await makeOld(key);
    const second = await start(key, { ...body, durationHours: 2 });
    expect({ status: second.status, replayed: replayed(second) }).toEqual({ status: 200, replayed: null });
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('of twenty at once with one key exactly one starts a session, the others get its answer', async () => {
    const [key, body] = [randomUUID(), { ipv4Address: fresh() }];
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(key, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    const rows = await drawbridge.query(
      'SELECT 1 FROM sessions WHERE organization_id = $1 AND ipv4_address = $2',
      [org.organizationId, body.ipv4Address],
    );
    expect(rows).toHaveLength(1);
  });

  it('of concurrent requests with one key, the second proceeds when the first is refused', async () => {
    const [key, ipv4Address] = [randomUUID(), fresh()];
    const { id } = await org.started({ ipv4Address });
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(key, { ipv4Address })));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(409));
    expect(answers.every(({ body }) => JSON.stringify(body).includes(id))).toBe(true);
  });

  it('deletes keys older than 24 hours in the background, and no others', async () => {
    const [old, young] = [randomUUID(), randomUUID()];
    await start(old, { ipv4Address: fresh() });
    await start(young, { ipv4Address: fresh() });
    await makeOld(old);
    const worker = await drawbridge.startWorker();
    const known = (key: string): Promise<object[]> =>
      drawbridge.query('SELECT 1 FROM idempotency_keys WHERE key = $1', [key]);
    await until('the old key is deleted', async () => (await known(old)).length === 0);
    expect(await known(young)).toHaveLength(1);
    await worker.stop();
  });
});
