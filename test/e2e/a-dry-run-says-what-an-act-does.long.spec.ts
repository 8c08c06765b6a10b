import type { Schemas } from '#client';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { pickFrom, TrialWorld, type WorldState } from '../builders/accounts/trial-world';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { SEED } from '../harness/seed';

type Rights = Schemas['PlannedRightsDto'];
type Row = Schemas['BulkResultDto'];

type Plan = Schemas['ChangePlanDto'];

const WORLDS = Number(process.env['WORLDS'] ?? 4);

const missing = (from: Iterable<string>, other: { has: (item: string) => boolean }): string[] =>
  [...from].filter((item) => !other.has(item)).toSorted();

/** What has happened between two states, in the form of a plan. */
function happened(before: WorldState, after: WorldState): object {
  const ended = missing(before.sessions.keys(), after.sessions);
  const owners = ended.map((id) => before.sessions.get(id)!);
  const lost = missing(before.rights, after.rights);
  return {
    gained: missing(after.rights, before.rights),
    lost,
    continuing: new Set(after.openBy.filter(([right]) => lost.includes(right)).map(([, id]) => id)).size,
    sessions: ended,
    people: new Set(owners.filter(({ isJob }) => !isJob).map(({ owner }) => owner)).size,
    jobs: owners.filter(({ isJob }) => isJob).length,
    staticIpRules: missing(before.staticRules, after.staticRules),
    rules: missing(before.rules, after.rules).length,
    opens: missing(after.rules, before.rules).length,
  };
}

/** A total that is not that of the sample is shown as one right more. */
const pairsOf = ({ total, sample }: Rights): string[] =>
  [...sample, ...(total === sample.length ? [] : [{ userId: 'total', resourceId: total }])]
    .map(({ userId, resourceId }) => `${userId} ${resourceId}`)
    .toSorted();

const idsOf = ({ sample }: Plan, kind: string): string[] =>
  sample.flatMap((one) => (one.kind === kind ? [one.id] : [])).toSorted();

const pickedOf = ({ status, message }: NonNullable<Plan['refusal']>): object => ({ status, message });

const said = (plan: Plan): object => ({
  refused: plan.refused ?? [],
  gained: pairsOf(plan.rights.gained),
  lost: pairsOf(plan.rights.lost),
  continuing: plan.continuing.sessions,
  sessions: idsOf(plan, 'SESSION'),
  people: plan.ends.people,
  jobs: plan.ends.jobs,
  staticIpRules: idsOf(plan, 'STATIC_IP_RULE'),
  rules: plan.ends.rules,
  opens: plan.opens.rules,
});

/** With `dryRun` a request runs as it is, and is undone: without a worker, nothing else moves. */
describe('A dry run', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(2));

  it(`says what the act then does, and writes nothing (SEED=${SEED})`, async () => {
    const seen = new Map<string, number>();
    for (let seed = SEED; seed < SEED + WORLDS; seed += 1) {
      const pick = pickFrom(seed);
      const world = await TrialWorld.of(drawbridge, pick);
      for (const act of world.acts(pick)) {
        const where = `seed ${seed}: ${act[0]} ${act[1]} ${JSON.stringify(act[2])}`;
        const rows = await world.rows();
        const { status, body: plan } = await world.send<Plan>(act, '?dryRun=true');
        expect({ where, status, rows: await world.rows() }).toEqual({ where, status: 200, rows });
        const before = await world.state();
        const done = await world.send<{ message?: string; results?: readonly Row[] } | null>(act);
        expect({ where, refusal: plan.refusal && pickedOf(plan.refusal), ...said(plan) }).toEqual({
          where,
          refusal: done.status < 300 ? null : { status: done.status, message: done.body?.message },
          refused: (done.body?.results ?? []).filter(({ outcome }) => outcome === 'REFUSED'),
          ...happened(before, await world.state()),
        });
        const kind = `${act[0]} ${act[1].split('/')[1]}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    expect(seen.size).toBeGreaterThan(5);
  });

  it('is refused where it is not clear, and answers malformed requests as the act', async () => {
    const path = `/roles/${org.roleId}`;
    for (const [query, body] of [
      ['?dryRun', {}],
      ['?dryRun=1', {}],
      ['?dryRun=true&dryRun=true', {}],
      ['?dryRun=true', { dryRun: false }],
      ['?dry_run=true', {}],
      ['', { dryRun: 'maybe' }],
      ['?dryRun=true', { name: 7 }],
    ] as const)
      expect((await org.admin.patch(path + query, { name: 'Tried', ...body })).status).toBe(400);
    for (const [query, body] of [
      ['?dryRun=true', { name: 'Tried' }],
      ['', { name: 'Tried', dryRun: true }],
      ['?dryRun=true', { name: 'Tried', dryRun: true }],
    ] as const)
      expect((await org.admin.patch(path + query, body)).body).toMatchObject({ dryRun: true, refusal: null });
    const kept = await org.admin.patch<{ name: string }>(`${path}?dryRun=false`, { dryRun: null });
    expect(kept.body.name).toBe('Developers');
  });

  it('of many sends no mail: to invite again has none', async () => {
    const body = { userIds: [org.adminId], action: 'RESEND_INVITATION' };
    expect((await org.admin.post('/users/bulk?dryRun=true', body)).body).toMatchObject({
      validationErrors: { action: 'RESEND_INVITATION has no dry run: leave dryRun out' },
    });
  });

  it('waits for no lock that a worker has on sessions, rules and targets', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.81' });
    const locks = ['sessions', 'rules', 'rule_holders', 'targets', 'resource_ips'].map(
      (table) => `${table}_locked AS MATERIALIZED (SELECT FROM ${table} FOR NO KEY UPDATE)`,
    );
    const counts = locks.map((lock) => `(SELECT count(*) FROM ${lock.split(' ')[0]})`);
    const cancelled = drawbridge
      .query(`WITH ${locks.join(', ')} SELECT ${counts.join(', ')}, pg_sleep(60)`)
      .catch((error: unknown) => String(error));
    const sleeping = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await until('they are locked', async () => (await drawbridge.query(`SELECT ${sleeping}`)).length > 0);
    const dryRun = { dryRun: true };
    const { ends } = await org.admin.posted<Plan>('/organization/lockdown', { reason: 'INC-3', ...dryRun });
    expect(ends).toMatchObject({ sessions: 1, people: 1, rules: 2 });
    const [resourceId] = org.resourceIds;
    const moved = await org.admin.patch<Plan>(`/resources/${resourceId}`, {
      resourceIdentifier: group(1),
      config: { port: 443 },
      ...dryRun,
    });
    expect(moved.body).toMatchObject({ refusal: null, ends: { rules: 1 }, opens: { rules: 1 } });
    const address = { label: 'more', ipAddress: '203.0.113.82', resourceIds: [resourceId], ...dryRun };
    expect((await org.admin.post<Plan>('/static-ip-rules', address)).body.opens).toEqual({ rules: 1 });
    await drawbridge.query(`SELECT pg_cancel_backend(pid) ${sleeping}`);
    expect(await cancelled).toContain('canceling');
    expect((await org.session(id)).status).toBe('PENDING');
  });

  it('of what is not counted is counted by caller', async () => {
    const path = `/roles/${org.roleId}?dryRun=true`;
    const status = await until('dry runs are refused', async () => {
      const answer = await org.admin.delete(path);
      return answer.status !== 200 && answer.status;
    });
    expect(status).toBe(429);
    expect((await org.admin.get(`/roles/${org.roleId}`)).status).toBe(200);
  });
});
