import { randomUUID } from 'node:crypto';
import { formatMark } from '#rules';
import { group, organization, Organization } from '../builders/organization';
import { ApiClient, type Session } from '../harness/api-client';
import { emptyDatabase, type ClonedDatabase } from '../harness/database';
import { Drawbridge } from '../harness/drawbridge';
import { migrateToThisRelease, PreviousRelease, whyNotInHistory } from '../harness/previous-release';
import { until } from '../harness/until';

/** The last commit whose newest migration is ListsInFlight1780300000000. */
const PREVIOUS = '5cf857a';

/** From a stop, or the end of a session's time, to the cloud; generous, as both releases share two cores. */
const CLOSED_TIMEOUT_MS = 15_000;
const SEEDED_ENDED = 400;
/** how long both releases run side by side */
const TOGETHER_MS = 10_000;

const [OPEN, STUCK, BUSY] = [group(0), group(1), group(2)];

/** Sessions that are started and stopped one after another while the release changes. */
class Load {
  readonly started: { id: string; address: string; stoppedAt: number | null }[] = [];
  private isOver = false;
  private next: { org: Organization; moved: () => void } | null = null;
  private readonly running: Promise<void>;

  constructor(
    private org: Organization,
    private readonly resourceId: string,
  ) {
    this.running = this.run();
  }

  /** Goes on at another API; resolves when nothing is asked of the one before any more. */
  moveTo(org: Organization): Promise<void> {
    return Promise.race([
      this.running,
      new Promise<void>((resolve) => (this.next = { org, moved: resolve })),
    ]);
  }

  /** Rejects with the first request that failed. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (let index = 1; !this.isOver; index += 1) {
      if (this.next) {
        this.org = this.next.org;
        this.next.moved();
        this.next = null;
      }
      const address = `198.51.100.${index % 250}`;
      const { id } = await this.org.started({
        ipv4Address: address,
        resourceIds: [this.resourceId],
        holder: `job-${index}`,
      });
      const session = { id, address, stoppedAt: null as number | null };
      this.started.push(session);
      await this.org.reaches(id, 'ACTIVE', 30_000);
      session.stoppedAt = Date.now();
      await this.org.admin.expect(200, this.org.admin.post(`/sessions/${id}/stop`));
    }
  }
}

const missing = whyNotInHistory(PREVIOUS);
const describeUpgrade = missing === null ? describe : describe.skip;
if (missing !== null) {
  const line = '!'.repeat(78);
  process.stderr.write(
    `${line}\n!! The upgrade from the release before was NOT tested: commit ${PREVIOUS} is not here (${missing}).\n${line}\n`,
  );
}

it('the release before can be built wherever continuous integration has the whole history', () => {
  expect(process.env['CI'] === 'true' ? missing : null).not.toBe('missing');
});

describeUpgrade('An upgrade while the release before is running', () => {
  let previous: PreviousRelease;
  let drawbridge: Drawbridge;
  let database: ClonedDatabase;
  let org: Organization;
  let load: Load;
  let open: Session[];
  let expiring: Session;
  let stuck: Session;
  let ended: Session;
  let newApi: ApiClient;
  const orphan = '203.0.113.200';
  const drifted = '203.0.113.1';
  const times: Record<string, number> = {};

  const addressesIn = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target)).map(({ address }) => address.replace('/32', ''));

  const count = async (statement: string): Promise<number> =>
    (await drawbridge.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${statement}`))[0]!.count;

  const closedAt = async (address: string): Promise<number> => {
    const closings = (await drawbridge.cloud.timeline()).filter(
      (entry) => entry.event === 'closed' && entry.address.replace('/32', '') === address,
    );
    return Math.max(...closings.map(({ at }) => at / 1000));
  };

  /** What the release before leaves behind of sessions that are over: their holders, and rules that are absent. */
  const seedEnded = (resourceId: string): Promise<unknown> =>
    drawbridge.query(
      `WITH plan AS (
         SELECT gen_random_uuid() AS session_id, gen_random_uuid() AS ip_id, gen_random_uuid() AS rule_id,
           host('10.9.0.0'::inet + n / 4) AS address, n % 4 = 0 AS is_first, n / 4 AS place
         FROM generate_series(0, $1::int - 1) n
       ), resource AS (SELECT * FROM resources WHERE id = $2),
       session AS (
         INSERT INTO sessions (id, organization_id, user_id, ipv4_address, status, expires_at, ended_at, ended_reason)
         SELECT session_id, organization_id, $3, address, 'EXPIRED', now() - interval '1 day', now() - interval '1 day',
           'EXPIRED' FROM plan, resource
       ), ip AS (
         INSERT INTO resource_ips (id, organization_id, session_id, resource_id, resource_name, ip_version, ip_address,
           status, applied_at, released_at, removed_at)
         SELECT ip_id, organization_id, session_id, resource.id, name, 4, address, 'REMOVED', now() - interval '2 days',
           now() - interval '1 day', now() - interval '1 day' FROM plan, resource
       ), rule AS (
         INSERT INTO rules (id, target_id, key, address, protocol, ports, state, credential_id, region)
         SELECT rule_id, target_id, address || '/32 tcp 22', address || '/32', 'tcp', '22', 'absent', credential_id, region
         FROM plan, resource WHERE is_first
       )
       INSERT INTO rule_holders (rule_id, resource_ip_id)
       SELECT first.rule_id, plan.ip_id FROM plan JOIN plan first ON first.place = plan.place AND first.is_first`,
      [SEEDED_ENDED, resourceId, org.adminId],
    );

  beforeAll(async () => {
    previous = await PreviousRelease.build(PREVIOUS);
    database = await emptyDatabase();
    await previous.migrate(database.url);
    drawbridge = await Drawbridge.start({ database, worker: false, apiRelease: previous.root });
    // drift is left for the new release to find
    const oldWorker = await drawbridge.startWorker({ RECONCILE_SECONDS: '86400' }, 'test', previous.root);
    org = await organization(
      drawbridge,
      [OPEN, STUCK, BUSY].map((target) => ({ group: target, config: { port: 22 } })),
    );
    const [openId, stuckId, busyId] = org.resourceIds as [string, string, string];
    const start = (ipv4Address: string, resourceId: string): Promise<Session> =>
      org.started({ ipv4Address, resourceIds: [resourceId] });
    open = await Promise.all([1, 2, 3, 4, 5].map((last) => start(`203.0.113.${last}`, openId)));
    expiring = await start('203.0.113.50', openId);
    stuck = await start('203.0.113.60', stuckId);
    ended = await start('203.0.113.70', openId);
    for (const { id } of [...open, expiring, stuck, ended]) await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${ended.id}/stop`));
    await org.reaches(ended.id, 'CANCELLED');
    await seedEnded(openId);
    // an overdue rule: the cloud refuses to revoke it
    await drawbridge.cloud.fault({ kind: 'refuse', target: STUCK, operation: 'RevokeSecurityGroupIngress' });
    await org.admin.expect(200, org.admin.post(`/sessions/${stuck.id}/stop`));
    await org.reaches(stuck.id, 'EXPIRING');
    await drawbridge.query(
      `UPDATE resource_ips SET released_at = released_at - interval '20 minutes' WHERE status = 'REMOVING'`,
    );
    // drift: a rule that is gone, and one with our mark that the database does not know
    await drawbridge.cloud.removeByHand(OPEN, `${drifted}/32`);
    await drawbridge.cloud.addUnmanaged({
      target: OPEN,
      address: `${orphan}/32`,
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
      description: formatMark({ deployment: 'test', ruleId: randomUUID(), expiresAt: null }),
    });

    load = new Load(org, busyId);
    await until('the load runs', () => Promise.resolve(load.started.length > 3));
    times['migrating'] = Date.now();
    await migrateToThisRelease(database.url);
    times['migrated'] = Date.now();
    await org.expire(expiring.id);
    times['expired'] = Date.now();

    const [api] = await Promise.all([
      drawbridge.startApi({ RATE_LIMIT_PER_MINUTE: '1000000' }),
      drawbridge.startWorker({ RECONCILE_SECONDS: '5' }),
    ]);
    await drawbridge.query('UPDATE targets SET reconcile_due_at = now()');
    newApi = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
    times['together'] = Date.now();
    await until('both ran side by side', () =>
      Promise.resolve(Date.now() > times['together']! + TOGETHER_MS),
    );
    await load.moveTo(
      new Organization(
        drawbridge,
        newApi,
        org.adminId,
        org.adminEmail,
        org.organizationId,
        org.credentialId,
        org.roleId,
        org.resourceIds,
      ),
    );
    await oldWorker.stop();
    await drawbridge.apiServer.stop();
    times['alone'] = Date.now();
    const before = load.started.length;
    await until(
      'the new release works alone',
      () => Promise.resolve(load.started.length > before + 3),
      60_000,
    );
    await load.end();
  }, 240_000);

  afterAll(async () => {
    await drawbridge?.stop();
    previous?.remove();
  });

  it('loses no session, and opens and closes each in time', async () => {
    const sessions = await drawbridge.query<{ id: string; status: string }>(
      'SELECT id, status FROM sessions WHERE id = ANY ($1::uuid[])',
      [load.started.map(({ id }) => id)],
    );
    expect(sessions).toHaveLength(load.started.length);
    await until('all are closed', async () => (await addressesIn(BUSY)).length === 0, CLOSED_TIMEOUT_MS);
    await until(
      'all are CANCELLED',
      async () => (await count(`sessions WHERE status <> 'CANCELLED' AND holder LIKE 'job-%'`)) === 0,
    );
    const late: object[] = [];
    for (const { address, stoppedAt } of load.started) {
      const ms = (await closedAt(address)) - stoppedAt!;
      if (ms > CLOSED_TIMEOUT_MS) late.push({ address, ms });
    }
    expect(late).toEqual([]);
  });

  it('closes a session that ends while the release changes', async () => {
    await until('it is closed', async () => !(await addressesIn(OPEN)).includes('203.0.113.50'));
    expect((await closedAt('203.0.113.50')) - times['expired']!).toBeLessThan(CLOSED_TIMEOUT_MS);
    await until(
      'it is EXPIRED',
      async () => (await count(`sessions WHERE id = '${expiring.id}' AND status = 'EXPIRED'`)) === 1,
    );
  });

  it('repairs the drift that it finds, and touches no rule of an open session', async () => {
    await until('the missing rule is back', async () => (await addressesIn(OPEN)).includes(drifted), 30_000);
    await until('the orphan is gone', async () => !(await addressesIn(OPEN)).includes(orphan), 30_000);
    const closed = (await drawbridge.cloud.timeline()).filter(({ event }) => event === 'closed');
    const kept = open.map(({ ipv4Address }) => ipv4Address!).filter((address) => address !== drifted);
    expect(closed.filter(({ address }) => kept.includes(address.replace('/32', '')))).toEqual([]);
    expect((await addressesIn(OPEN)).toSorted()).toEqual([drifted, ...kept].toSorted());
    expect(
      await count(
        `sessions WHERE status = 'ACTIVE' AND id = ANY (ARRAY['${open.map(({ id }) => id).join(`','`)}']::uuid[])`,
      ),
    ).toBe(open.length);
  });

  it('keeps the time and cause of an overdue rule, and closes it', async () => {
    const [rule] = await drawbridge.query<{ minutes: number; cause: string; released: string }>(
      `SELECT round(extract(epoch FROM now() - r.unwanted_since) / 60)::int AS minutes, r.cause,
         h.release_cause AS released
       FROM rules r JOIN rule_holders h ON h.rule_id = r.id JOIN resource_ips ip ON ip.id = h.resource_ip_id
       WHERE ip.session_id = $1`,
      [stuck.id],
    );
    expect(rule).toMatchObject({ cause: 'SESSION_STOPPED', released: 'SESSION_STOPPED' });
    expect(rule!.minutes).toBeGreaterThanOrEqual(20);
    await drawbridge.cloud.clearFaults();
    await until('it is closed', async () => (await addressesIn(STUCK)).length === 0, 120_000);
    await until(
      'it is CANCELLED',
      async () => (await count(`sessions WHERE id = '${stuck.id}' AND status = 'CANCELLED'`)) === 1,
    );
  });

  it('leaves no ended holder and no rule that is over', async () => {
    const endedHolders = `rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
      WHERE ip.status IN ('REMOVED', 'FAILED')`;
    await until('no ended holder is left', async () => (await count(endedHolders)) === 0);
    const over = `rules r WHERE state = 'absent' AND due_at IS NULL
      AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id)`;
    await until('no rule that is over is left', async () => (await count(over)) === 0, 60_000);
    expect(await count('rules')).toBe(open.length);
  });

  it('reads sessions that ended under the release before', async () => {
    const session = await newApi.expect(200, newApi.get<Session>(`/sessions/${ended.id}`));
    expect(session).toMatchObject({ status: 'CANCELLED', endedReason: 'MANUAL' });
    expect(session.resourceIps).toEqual([expect.objectContaining({ status: 'REMOVED' })]);
    expect(await count(`sessions WHERE status = 'EXPIRED' AND ipv4_address LIKE '10.9.%'`)).toBe(
      SEEDED_ENDED,
    );
  });
});
