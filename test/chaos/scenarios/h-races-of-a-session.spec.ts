import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { newcomer } from '../../builders/accounts/people';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { repeatRace, ROUNDS, randomDelay } from '../rounds';
import { Watch } from '../oracles/watch';

const LONG_MS = 1_800_000 + ROUNDS * 20_000;
const MAX_GAP_MS = 2000;

describe('H. Races of requests with each other, the clock and the cloud', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge, sshTo(3));
  let watch: Watch;
  let made = 0;

  beforeAll(async () => {
    await drawbridge.startWorker();
    watch = await Watch.begin(drawbridge);
  });
  afterEach(async () => {
    const live = await drawbridge.query<{ id: string }>(
      `SELECT id FROM sessions WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
    );
    await Promise.all(live.map(({ id }) => stop(id)));
    await watch.verify();
  }, LONG_MS);

  const fresh = (): string => `198.51.100.${(made += 1)}`;

  const started = async (index: number, ipv4Address: string, more: object = {}): Promise<Session> => {
    const session = await org.started({ ipv4Address, resourceIds: [org.resourceIds[index]], ...more });
    watch.acknowledged(session.id);
    return session;
  };

  const stop = async (id: string): Promise<number> => (await org.admin.post(`/sessions/${id}/stop`)).status;

  const events = async (address: string): Promise<{ event: string; at: number }[]> =>
    (await drawbridge.cloud.timeline()).filter((entry) => entry.address === address);

  const isOpen = async (address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  it(
    'stop while the rule is being added: the rule is removed, also if the add takes effect later [H1]',
    () =>
      repeatRace(async (round) => {
        if (round % 2 === 0) {
          const operation = 'AuthorizeSecurityGroupIngress';
          await drawbridge.cloud.fault({ kind: 'slow', target: group(0), operation, delayMs: 800, count: 1 });
        }
        const address = fresh();
        const { id } = await started(0, address);
        await randomDelay(1200);
        expect(await stop(id)).toBe(200);
        await org.reaches(id, 'CANCELLED');
        expect(await isOpen(address)).toBe(false);
        await drawbridge.cloud.clearFaults();
      }),
    LONG_MS,
  );

  it(
    'extension during expiry: either extended and never closed, or refused and closed [H3]',
    () =>
      repeatRace(async (round) => {
        const address = fresh();
        const { id } = await started(1, address);
        await org.reaches(id, 'ACTIVE');
        await org.expire(id, 400);
        const ends = Date.parse((await org.session(id)).expiresAt);
        await until('it is about to expire', () => Promise.resolve(Date.now() >= ends - 8 + (round % 5) * 4));
        const { status } = await org.admin.post(`/sessions/${id}/extend`, { additionalHours: 1 });
        expect([200, 409]).toContain(status);
        const extended = status === 200;
        if (!extended) await org.reaches(id, 'EXPIRED');
        await until('two sweeps have passed', () => Promise.resolve(Date.now() > ends + 2500));
        expect((await events(address)).map(({ event }) => event)).toEqual(
          extended ? ['opened'] : ['opened', 'closed'],
        );
        expect((await org.session(id)).status).toBe(extended ? 'ACTIVE' : 'EXPIRED');
      }),
    LONG_MS,
  );

  it(
    'the last holder stops while another one starts: the rule is present at the end, without a long gap [H6]',
    () =>
      repeatRace(async () => {
        const address = fresh();
        const first = await started(2, address, { holder: 'a' });
        await org.reaches(first.id, 'ACTIVE');
        const stopped = randomDelay(60).then(() => stop(first.id));
        await randomDelay(60);
        const second = await started(2, address, { holder: 'b' });
        expect(await stopped).toBe(200);
        await org.reaches(second.id, 'ACTIVE');
        await org.reaches(first.id, 'CANCELLED');
        expect(await isOpen(address)).toBe(true);
        const seen = await events(address);
        const gaps = seen.flatMap(({ event, at }, index) =>
          event === 'closed' && seen[index + 1] ? [(seen[index + 1]!.at - at) / 1000] : [],
        );
        expect(gaps.filter((gap) => gap > MAX_GAP_MS)).toEqual([]);
      }),
    LONG_MS,
  );

  it(
    'a user is deleted while starting a session: refused, or started and ended; no rule stays [I1]',
    () =>
      repeatRace(async () => {
        const user = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
        const ipv4Address = fresh();
        const deleted = randomDelay(40).then(() => org.admin.delete(`/users/${user.id}`));
        await randomDelay(40);
        const { status, body } = await user.client.post<Session>('/sessions', { ipv4Address });
        expect((await deleted).status).toBe(204);
        // 400: still signed in, but without a role
        expect([200, 400, 401, 404]).toContain(status);
        const ended = status === 200 ? await org.reaches(body.id, 'CANCELLED') : null;
        expect([undefined, 'ADMIN']).toContain(ended?.endedReason);
        expect(await isOpen(ipv4Address)).toBe(false);
      }),
    LONG_MS,
  );
});
