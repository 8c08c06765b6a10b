import { auditRecords } from '../../builders/audit/audit-trail';
import { CHAOS_FULL, ownForFaults } from '../../builders/sessions/fault-bench';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';
import { outage } from './outage';

/** Sessions that expire during the fault, over ten groups: 50 rules in each with CHAOS_FULL=1. */
const OVERDUE = CHAOS_FULL ? 50 : 6;
const THROTTLED_SECONDS = CHAOS_FULL ? 300 : 20;
const REPORTED_AFTER_SECONDS = 60;
const OUTAGE_SECONDS = CHAOS_FULL ? 1200 : REPORTED_AFTER_SECONDS + 5;
const RECOVERY_MS = 60_000;
const GROUPS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Backoff with full jitter, 0.5 s doubled up to 30 s: ten retries at first, then one in 15 s on average. */
const probesIn = (seconds: number): number => 12 + Math.ceil(seconds / 5);

const addresses = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `203.0.113.${from + index}`);

describe('B. The cloud throttles, or is down', () => {
  vi.setConfig({ testTimeout: (OUTAGE_SECONDS + THROTTLED_SECONDS) * 1000 + 1_800_000 });
  const drawbridge = ownForFaults({
    simulator: {
      SIMULATOR_RULES_PER_GROUP: '200',
      SIMULATOR_WRITE_BURST: '50',
      SIMULATOR_WRITE_REFILL_PER_SECOND: '5',
    },
  });
  const org = ownOrganization(drawbridge, sshTo(GROUPS));
  let watch: Watch;

  beforeEach(async () => {
    watch = await Watch.begin(drawbridge);
  });
  afterEach(() => watch.verify());

  const started = async (given: readonly string[]): Promise<string[]> => {
    const sessions = await Promise.all(given.map((ipv4Address) => org.started({ ipv4Address })));
    for (const { id } of sessions) watch.acknowledged(id);
    return sessions.map(({ id }) => id);
  };
  const all = (ids: readonly string[], status: string, withinMs?: number): Promise<unknown> =>
    Promise.all(ids.map((id) => org.reaches(id, status, withinMs)));

  /** The maximum number of calls to one target, by the cloud's own time. */
  const mostCalls = async (since: number, seconds: number): Promise<number> => {
    const calls = (await drawbridge.cloud.calls(since * 1000)).filter(
      ({ at }) => at < since * 1e3 + seconds * 1e6,
    );
    return Math.max(...GROUPS.map((index) => calls.filter((call) => call.target === group(index)).length));
  };

  const isReported = async (since: number): Promise<boolean> =>
    (await auditRecords(org.admin)).some(
      ({ eventType, timestamp }) => eventType === 'RULE_REVOCATION_OVERDUE' && Date.parse(timestamp) > since,
    );

  it.each([
    ['throttled without Retry-After', 'B7, R7', { kind: 'throttle' }, THROTTLED_SECONDS],
    ['throttled with Retry-After', 'B7, R7', { kind: 'throttle', delayMs: 5000 }, THROTTLED_SECONDS],
    ['down', 'B8, R6, R24', { kind: 'error' }, OUTAGE_SECONDS],
  ])(
    '%s: calls are limited by backoff, what stays open for a minute is reported, and all is closed within a minute after [%s]',
    async (_what, _rows, fault, seconds) => {
      const overdue = await started(addresses(1, OVERDUE));
      await all(overdue, 'ACTIVE');
      const window = watch.fault(fault.kind);
      await drawbridge.cloud.fault(fault);
      const begunAt = Date.now();
      await Promise.all(overdue.map((id) => org.expire(id)));
      await outage(seconds * 500);
      const late = await started(addresses(101, 3));
      await outage(seconds * 500);
      expect(await mostCalls(begunAt, seconds)).toBeLessThanOrEqual(probesIn(seconds));
      for (const id of overdue) expect((await org.session(id)).status).toBe('EXPIRING');
      if (seconds > REPORTED_AFTER_SECONDS) await until('it is reported', () => isReported(begunAt));
      await drawbridge.cloud.clearFaults();
      window.end();
      await all(overdue, 'EXPIRED', RECOVERY_MS);
      await all(late, 'ACTIVE', RECOVERY_MS);
      await Promise.all(late.map((id) => org.admin.post(`/sessions/${id}/stop`)));
      await all(late, 'CANCELLED');
    },
  );

  it('many sessions at once stay within the call limits of the account [B7, R7]', async () => {
    const begunAt = Date.now();
    for (let wave = 0; wave < 4; wave += 1) {
      const ids = await started(addresses(1 + 10 * wave, 10));
      await all(ids, 'ACTIVE');
      await Promise.all(ids.map((id) => org.admin.post(`/sessions/${id}/stop`)));
    }
    await until('nothing is open', async () => (await drawbridge.cloud.rules()).length === 0);
    const writes = (await drawbridge.cloud.calls(begunAt * 1000)).filter((call) =>
      /^(Authorize|Revoke)/.test(call.operation),
    );
    // in the time between the first and the last of them
    const allowed = 50 + (5 * (writes.at(-1)!.at - writes[0]!.at)) / 1e6;
    const throttled = writes.filter((call) => call.outcome === 'RequestLimitExceeded').length;
    expect(writes.length).toBeLessThanOrEqual(1.1 * allowed);
    expect(throttled).toBeLessThanOrEqual(0.1 * writes.length);
  });
});
