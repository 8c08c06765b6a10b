import { ownOrganization } from '../../builders/accounts/organization';
import { newcomer } from '../../builders/accounts/people';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { repeatRace, ROUNDS, randomDelay } from '../rounds';
import { Watch } from '../oracles/watch';

const LONG_MS = 1_800_000 + ROUNDS * 20_000;
const MAX_GAP_MS = 2000;

describe('H. Races of requests that decide about one rule', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge);
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

  const started = async (ipv4Address: string, holder: string): Promise<Session> => {
    const session = await org.started({ ipv4Address, holder });
    watch.acknowledged(session.id);
    return session;
  };

  const stop = async (id: string): Promise<number> => (await org.admin.post(`/sessions/${id}/stop`)).status;

  const isOpen = async (address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  it(
    'the last holder stops while another one starts: the rule is present at the end, without a long gap [H6]',
    () =>
      repeatRace(async () => {
        const address = fresh();
        const first = await started(address, 'a');
        await org.reaches(first.id, 'ACTIVE');
        const stopped = randomDelay(60).then(() => stop(first.id));
        await randomDelay(60);
        const second = await started(address, 'b');
        expect(await stopped).toBe(200);
        await org.reaches(second.id, 'ACTIVE');
        await org.reaches(first.id, 'CANCELLED');
        expect(await isOpen(address)).toBe(true);
        const seen = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === address);
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
