import type { Schemas } from '#client';
import { pickFrom, TrialWorld, type Pick } from '../builders/accounts/trial-world';
import type { ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { SEED } from '../harness/seed';

/** More of them find rarer differences: `WORLDS=1000`. */
const WORLDS = Number(process.env['WORLDS'] ?? 40);
const ADDRESSES = ['203.0.113.71', '203.0.113.72', '203.0.113.75'];
/** Started, impossible, not permitted: each is met. */
const KINDS = [200, 400, 403] as const;
/** States of one organization: each is another world. */
const STATES = 10;

type Refusal = Schemas['PlanRefusalDto'];
type Plan = Schemas['SessionPlanDto'];

type Started = Session & Refusal;

const refused = ({ status, error, message, validationErrors = {} }: Refusal): object => ({
  status,
  error,
  message,
  validationErrors,
});

/** In random organizations, a plan is compared with the start that follows it. No worker runs, so nothing else moves. */
describe('A plan, in random worlds', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { MAX_LIVE_SESSIONS_PER_USER: '2' } });

  /** Gives roles, resources and the organization other settings. */
  async function change({ org, roleIds, people }: TrialWorld, pick: Pick): Promise<void> {
    const role = {
      approvals: pick([0, 0, 0, 1]),
      requireReason: pick([true, false, false, false]),
      reasonPattern: pick([null, null, 'INC-*']),
      maxSessionDurationHours: pick([null, 1, 3]),
      ipv6PrefixLength: pick([128, 64]),
    };
    await org.admin.patch(`/roles/${pick(roleIds)}`, role);
    await org.admin.patch(`/resources/${pick(org.resourceIds)}`, { isActive: pick([true, true, false]) });
    const { id } = pick(people);
    await org.admin.send(pick(['POST', 'DELETE', 'DELETE']), `/users/${id}/lockdown`, { reason: 'INC-1' });
    await org.admin.patch('/organization/settings', {
      requireDetectedAddress: pick([false, false, false, true]),
      maxResourcesPerSession: pick([null, null, 2]),
    });
  }

  function requestOf({ org }: TrialWorld, pick: Pick, own: readonly string[]): object {
    const of = org.resourceIds;
    const durationHours = pick([undefined, undefined, 1, 1, 2, 4]);
    return {
      ipv4Address: pick([...ADDRESSES, ...ADDRESSES, '10.0.0.1']),
      ipv6Address: pick([undefined, undefined, '2001:db8:7::1']),
      resourceIds: pick([undefined, undefined, [pick(of)], [pick(of), pick(of)]]),
      ...(durationHours && { durationHours }),
      reason: pick([undefined, 'INC-7', 'a look']),
      holder: pick([undefined, 'one', 'two']),
      replaces: pick([undefined, ...own]),
    };
  }

  /** Which rules a session holds, and whether another holder of the organization does. */
  async function opened(id: string): Promise<string[]> {
    const held = await drawbridge.query<{ place: string }>(
      `SELECT ip.resource_id || ' ' || r.key || CASE WHEN EXISTS (
           SELECT FROM rule_holders h2 JOIN resource_ips other ON other.id = h2.resource_ip_id
           WHERE h2.rule_id = r.id AND h2.released_at IS NULL AND other.organization_id = ip.organization_id
             AND other.session_id IS DISTINCT FROM ip.session_id) THEN ' SHARED' ELSE '' END AS place
       FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id JOIN rules r ON r.id = h.rule_id
       WHERE ip.session_id = $1`,
      [id],
    );
    return held.map(({ place }) => place).toSorted();
  }

  const foreseen = ({ resources }: Plan): string[] =>
    resources
      .flatMap(({ resourceId, rules }) =>
        rules.map(({ address, protocol, ports, outcome }) =>
          [resourceId, address, protocol, ports, ...(outcome === 'SHARED' ? [outcome] : [])].join(' '),
        ),
      )
      .toSorted();

  it(`is what the start does (SEED=${SEED})`, { timeout: 3_600_000 }, async () => {
    const outcomes = new Set<number>();
    const isEnough = (seed: number): boolean =>
      seed >= SEED + WORLDS / STATES && KINDS.every((kind) => outcomes.has(kind));
    for (let seed = SEED; seed < SEED + WORLDS && !isEnough(seed); seed += 1) {
      const pick = pickFrom(seed);
      const world = await TrialWorld.of(drawbridge, pick);
      // who may lift a lockdown
      await world.org.admin.patch(`/users/${world.people[0]!.id}`, { isOrgAdmin: true });
      const clients: readonly ApiClient[] = [...world.people.map(({ client }) => client), world.org.admin];
      for (let state = 0; state < STATES; state += 1) {
        await change(world, pick);
        const client = pick(clients);
        const { body: live } = await client.get<{ id: string }[]>('/sessions?active=true');
        const own = live.map(({ id }) => id);
        if (own.length > 0 && pick([true, false, false])) await client.post(`/sessions/${own.pop()}/stop`);
        const request = requestOf(world, pick, own);
        const where = `seed ${seed}, state ${state}: ${JSON.stringify(request)}`;
        const rows = await world.rows();
        const { status, body: plan } = await client.post<Plan & Refusal>('/sessions/plan', request);
        expect({ where, rows: await world.rows() }).toEqual({ where, rows });
        const started = await client.post<Started>('/sessions', request);
        const refusal = status === 200 ? plan.refusal : plan;
        outcomes.add(refusal?.status ?? 200);
        expect({ where, refusal: refusal && refused(refusal) }).toEqual({
          where,
          refusal: started.status === 200 ? null : refused({ ...started.body, status: started.status }),
        });
        if (refusal) continue;
        const { id, startedAt, expiresAt, ...session } = started.body;
        expect({
          where,
          ipv4Address: plan.ipv4Address,
          ipv6Address: plan.ipv6Address,
          hours: plan.durationHours,
          rules: foreseen(plan),
        }).toEqual({
          where,
          ipv4Address: session.ipv4Address,
          ipv6Address: session.ipv6Address,
          hours: (Date.parse(expiresAt) - Date.parse(startedAt)) / 3_600_000,
          rules: await opened(id),
        });
      }
    }
    expect([...outcomes]).toEqual(expect.arrayContaining([...KINDS]));
  });
});
