import { group, organization, type Organization } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { repeatRace, ROUNDS, randomDelay } from '../rounds';
import { Watch } from '../oracles/watch';

const LONG_MS = 1_800_000 + ROUNDS * 20_000;
const MAX_GAP_MS = 2000;

describe('H. Races in the life cycle of a session', () => {
  const drawbridge = Drawbridge.own();
  let org: Organization;
  let watch: Watch;
  let made = 0;

  beforeAll(async () => {
    await drawbridge.startWorker();
    const groups = Array.from({ length: 8 }, (_, index) => index);
    org = await organization(
      drawbridge,
      groups.map((index) => ({ group: group(index), config: { port: 22 } })),
    );
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
    'three concurrent stops by user and admin: one succeeds and sets the reason, the others get 400 [H2]',
    () =>
      repeatRace(async () => {
        const { id } = await started(1, fresh());
        if (Math.random() < 0.5) await org.reaches(id, 'ACTIVE');
        const paths = [`/sessions/${id}/stop`, `/sessions/admin/${id}/stop`, `/sessions/${id}/stop`];
        const answers = await Promise.all(paths.map((path) => org.admin.post<Session>(path)));
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400]);
        const winner = answers.findIndex(({ status }) => status === 200);
        const ended = await org.reaches(id, 'CANCELLED');
        expect(ended.endedReason).toBe(winner === 1 ? 'ADMIN' : 'MANUAL');
        expect(ended.endedAt).toBe(answers[winner]!.body.endedAt);
      }),
    LONG_MS,
  );

  it(
    'extension during expiry: either extended and never closed, or refused and closed [H3]',
    () =>
      repeatRace(async (round) => {
        const address = fresh();
        const { id } = await started(2, address);
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
    'twenty concurrent extensions never exceed the maximum [H4]',
    () =>
      repeatRace(async () => {
        const { id, startedAt } = await started(3, fresh(), { durationHours: 2 });
        const requests = Array.from({ length: 20 }, () =>
          org.admin.post(`/sessions/${id}/extend`, { additionalHours: 5 }),
        );
        const answers = await Promise.all(requests);
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
        expect(answers.filter(({ status }) => status === 400)).toHaveLength(16);
        const { expiresAt } = await org.session(id);
        expect(Date.parse(expiresAt) - Date.parse(startedAt)).toBe(22 * 3_600_000);
      }),
    LONG_MS,
  );

  it(
    'of eight concurrent starts for one user and address exactly one succeeds, the others get 409 [H5]',
    () =>
      repeatRace(async () => {
        const body = { ipv4Address: fresh(), resourceIds: [org.resourceIds[4]] };
        const answers = await Promise.all(Array.from({ length: 8 }, () => org.start(body)));
        const ids = answers.filter(({ status }) => status === 200).map((answer) => answer.body.id);
        expect(ids).toHaveLength(1);
        expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
        watch.acknowledged(ids[0]!);
      }),
    LONG_MS,
  );

  it(
    'the last holder stops while another one starts: the rule is present at the end, without a long gap [H6]',
    () =>
      repeatRace(async () => {
        const address = fresh();
        const first = await started(5, address, { holder: 'a' });
        await org.reaches(first.id, 'ACTIVE');
        const stopped = randomDelay(60).then(() => stop(first.id));
        await randomDelay(60);
        const second = await started(5, address, { holder: 'b' });
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
    'a session and a static rule share a rule: it is removed with the last of them, in any order [H7]',
    () =>
      repeatRace(async (round) => {
        const address = fresh();
        const body = { label: `Office ${address}`, ipAddress: address, resourceIds: [org.resourceIds[6]] };
        const [rule, session] = await Promise.all([
          org.admin.created<{ id: string }>('/static-ip-rules', body),
          started(6, address),
        ]);
        await org.reaches(session.id, 'ACTIVE');
        const remove = async (): Promise<void> =>
          void (await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${rule.id}`)));
        const ends = [remove, async () => void (await stop(session.id))];
        const [sooner, later] = round % 2 === 0 ? ends : ends.toReversed();
        await sooner!();
        await randomDelay(1500);
        expect(await isOpen(address)).toBe(true);
        await later!();
        await until('the rule is removed', async () => !(await isOpen(address)));
        expect((await events(address)).map(({ event }) => event)).toEqual(['opened', 'closed']);
      }),
    LONG_MS,
  );

  it(
    'an address inside a static range has its own rule: each is removed with its own holder [H8]',
    () =>
      repeatRace(async (round) => {
        const [range, address] = [`10.20.${round % 250}.0/24`, `10.20.${round % 250}.7`];
        const body = { label: `Range ${round}`, ipAddress: range, resourceIds: [org.resourceIds[6]] };
        const [rule, session] = await Promise.all([
          org.admin.created<{ id: string }>('/static-ip-rules', body),
          started(6, address),
        ]);
        await org.reaches(session.id, 'ACTIVE');
        await until('the range is present', () => isOpen(range));
        const leave = async (): Promise<unknown> =>
          org.admin.expect(204, org.admin.delete(`/static-ip-rules/${rule.id}`));
        await (round % 2 === 0 ? stop(session.id) : leave());
        const [gone, stays] = round % 2 === 0 ? [address, range] : [range, address];
        await until(`${gone} is removed`, async () => !(await isOpen(gone)));
        expect(await isOpen(stays)).toBe(true);
        if (round % 2 === 0) await leave();
      }),
    LONG_MS,
  );

  it(
    'a session that expires while the workers are paused is never added [H12]',
    () =>
      repeatRace(async () => {
        const address = fresh();
        const { workers } = drawbridge;
        for (const worker of workers) worker.signal('SIGSTOP');
        const paused = watch.fault('the workers are paused');
        const { id } = await started(7, address);
        await org.expire(id, 1000);
        await until('it has expired', async () => Date.parse((await org.session(id)).expiresAt) < Date.now());
        for (const worker of workers) worker.signal('SIGCONT');
        paused.end();
        await org.reaches(id, 'EXPIRED');
        expect(await events(address)).toEqual([]);
      }),
    LONG_MS,
  );

  it(
    'a rule that is added after the expiry, by a slow call, is removed [H12]',
    () =>
      repeatRace(async () => {
        const address = fresh();
        const operation = 'AuthorizeSecurityGroupIngress';
        await drawbridge.cloud.fault({ kind: 'slow', target: group(7), operation, delayMs: 2000, count: 1 });
        const slow = watch.fault('the cloud answers late');
        const { id } = await started(7, address);
        await org.expire(id, 1000);
        await org.reaches(id, 'EXPIRED');
        slow.end();
        expect(await isOpen(address)).toBe(false);
        await drawbridge.cloud.clearFaults();
      }),
    LONG_MS,
  );
});
