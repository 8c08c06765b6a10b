import { randomUUID } from 'node:crypto';
import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization } from '../builders/accounts/organization';
import type { Answer, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

interface Refused {
  readonly message: string;
}

describe('A session takes the place of another', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  const replace = (id: string, body: object): Promise<Answer<Session & Refused>> =>
    org.admin.post('/sessions', { ...body, replaces: id });

  const addresses = async (): Promise<string[]> =>
    (await drawbridge.cloud.rules(group(0))).map(({ address }) => address).toSorted();

  const stopped = async (id: string): Promise<void> => void (await org.admin.posted(`/sessions/${id}/stop`));

  it('the new address is open and the old one closed, and start and end stay the same', async () => {
    const old = await org.opened({ ipv4Address: '203.0.113.40', durationHours: 3 });
    const { status, body } = await replace(old.id, { ipv4Address: '203.0.113.41', leaseSeconds: 300 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ startedAt: old.startedAt, expiresAt: old.expiresAt });
    await org.reaches(body.id, 'ACTIVE');
    await org.reaches(old.id, 'CANCELLED');
    expect(await org.session(old.id)).toMatchObject({ endedReason: 'MANUAL' });
    expect(await addresses()).toEqual(['203.0.113.41']);
    await stopped(body.id);
  });

  it('the same address stays open all the time', async () => {
    const old = await org.opened({ ipv4Address: '203.0.113.42' });
    const before = await drawbridge.cloud.timeline();
    const { id } = (await replace(old.id, { ipv4Address: '203.0.113.42' })).body;
    await org.reaches(id, 'ACTIVE');
    await org.reaches(old.id, 'CANCELLED');
    expect((await drawbridge.cloud.timeline()).slice(before.length)).toEqual([]);
    await stopped(id);
    await until('it is closed', async () => (await addresses()).length === 0);
  });

  it('is refused for a session that is over, another’s, or unknown, and with a duration', async () => {
    const old = await org.started({ ipv4Address: '203.0.113.43' });
    const other = await colleague(org);
    const body = { ipv4Address: '203.0.113.44' };
    expect((await other.client.post('/sessions', { ...body, replaces: old.id })).status).toBe(403);
    expect((await replace(randomUUID(), body)).status).toBe(404);
    expect((await replace('anything', body)).status).toBe(400);
    expect((await replace(old.id, { ...body, durationHours: 1 })).body.message).toContain('must be left out');
    expect((await org.session(old.id)).endedReason).toBeNull();
    await stopped(old.id);
    expect((await replace(old.id, body)).status).toBe(409);
  });

  it('of many that want the same place one gets it', async () => {
    const old = await org.started({ ipv4Address: '203.0.113.50' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => replace(old.id, { ipv4Address: `203.0.113.${60 + index}` })),
    );
    const started = answers.filter(({ status }) => status === 200);
    expect(started).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
    await stopped(started[0]!.body.id);
  });
});
