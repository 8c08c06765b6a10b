import { randomUUID } from 'node:crypto';
import { RuleStore, type ResourceIpState } from '#engine-store';
import type { Database } from '#entities';
import { asOrganizationId, ruleLife, type Rule } from '#rules';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';
import type { InMemory } from '../simulation/in-memory';
import { MemoryRules } from '../simulation/memory-rules';
import { Tables, type ResourceRow, type SessionRow, type TargetRow } from '../simulation/tables';

type Methods = 'lock' | 'lockAlone' | 'save' | 'insert' | 'deleteUnheld';
/** A store, bound to a transaction if it needs one. */
type Store = {
  [Method in Methods]: (
    ...given: Parameters<InMemory<RuleStore>[Method]>
  ) => Promise<ReturnType<InMemory<RuleStore>[Method]>>;
};

/** A store with two rules of one target, which one APPLIED address holds. */
interface Furnished {
  readonly store: Store;
  readonly targetId: string;
  readonly ruleIds: readonly [string, string];
}

const NOW = Date.UTC(2026, 0, 1) + 0.125;

/** Every field of a rule differs from that of a new one. */
const CHANGED: Omit<Rule, 'id'> = {
  state: 'unknown',
  revision: 7,
  attempts: 3,
  dueAt: NOW + 1,
  closing: true,
  inFlightUntil: NOW + 2,
  lastError: 'denied',
  targetMissingSince: NOW + 3,
  isUnmanaged: true,
  isMissing: true,
  isSuspended: true,
  lostCount: 2,
  lostAt: NOW + 4,
  providerRuleId: 'sgr-1',
  credentialId: randomUUID(),
  region: 'eu-west-1',
  cause: 'SESSION_STOPPED',
  unwantedSince: NOW + 5,
  overdueAt: NOW + 6,
  possibleSince: NOW + 7,
  presentSince: NOW + 8,
  observedAt: NOW + 9,
  removalSentAt: NOW + 10,
  offeredRevision: 6,
  offeredUntil: NOW + 11,
  nativeEndAt: NOW + 12,
};

const ADDRESS: ResourceIpState = {
  status: 'PENDING',
  pendingSince: NOW + 1,
  appliedAt: NOW + 2,
  removedAt: NOW + 3,
  errorMessage: 'denied',
  wrongFamily: true,
  givenUp: 'gone',
  stillAllowedBy: 'sgr-2',
  providerRuleId: 'sgr-1',
};

function inMemory(): Furnished {
  const tables = new Tables(() => NOW);
  const id = 'target';
  tables.targets.set(id, { id, provider: 'AWS', identifier: 'sg', comparedAt: null } as TargetRow);
  tables.sessions.set('session', { id: 'session', userId: 'ada', expiresAt: NOW } as SessionRow);
  tables.resources.set('resource', { id: 'resource', credentialId: 'key', targetId: id } as ResourceRow);
  const rules = ['one', 'other'].map((key) =>
    tables.addRule({ targetId: id, key, address: '203.0.113.1/32', protocol: 'tcp', ports: '22' }),
  );
  tables.resourceIps.set('ip', {
    ...ADDRESS,
    status: 'APPLIED',
    id: 'ip',
    organizationId: asOrganizationId('organization'),
    sessionId: 'session',
    staticIpRuleId: null,
    resourceId: 'resource',
    ipAddress: '203.0.113.1',
    createdAt: NOW,
    releasedAt: null,
  });
  for (const rule of rules)
    tables.hold({
      ruleId: rule.id,
      resourceIpId: 'ip',
      cause: 'SESSION_STARTED',
      releasedAt: null,
      releaseCause: null,
    });
  const memory = new MemoryRules(tables) as unknown as Record<string, (...given: unknown[]) => unknown>;
  const bound =
    (name: Methods) =>
    (...given: unknown[]) =>
      Promise.resolve(memory[name]!(...given));
  return { store: storeOf(bound), targetId: id, ruleIds: [rules[0]!.id, rules[1]!.id] };
}

async function inDatabase(database: Database): Promise<Furnished> {
  const rows = new LedgerRows(database);
  const organization = await rows.organization();
  const targetId = await rows.target();
  const resourceId = await rows.resource(organization, targetId);
  const sessionId = await rows.session(organization);
  const ruleIds: [string, string] = [await rows.rule(targetId, []), await rows.rule(targetId, [])];
  await rows.holder(ruleIds[0], organization, resourceId, sessionId);
  await rows.rows(
    'INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT $1, resource_ip_id FROM rule_holders WHERE rule_id = $2',
    [ruleIds[1], ruleIds[0]],
  );
  const real = new RuleStore() as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const bound =
    (name: Methods) =>
    (...given: unknown[]) =>
      real[name]!(database.autocommit, ...given);
  return { store: storeOf(bound), targetId, ruleIds };
}

const storeOf = (bound: (name: Methods) => (...given: unknown[]) => Promise<unknown>): Store =>
  Object.fromEntries(
    (['lock', 'lockAlone', 'save', 'insert', 'deleteUnheld'] as const).map((name) => [name, bound(name)]),
  ) as unknown as Store;

const PLACES: [place: string, prepare: () => () => Furnished | Promise<Furnished>][] = [
  [
    'the database',
    () => {
      const database = ownDatabase(2);
      return () => inDatabase(database);
    },
  ],
  ['memory', () => inMemory],
];

describe.each(PLACES)('Rules, holders and addresses, in %s', (_, prepare) => {
  const furnish = prepare();
  let given: Furnished;

  beforeEach(async () => {
    given = await furnish();
  });

  it('are read as they were written, field by field', async () => {
    const { store, targetId, ruleIds } = given;
    const [id] = ruleIds;
    const [address] = (await store.lock(targetId, [id], [])).addresses;
    await store.save({
      rules: [{ ...CHANGED, id }],
      addresses: [{ ...ADDRESS, id: address!.id, was: 'APPLIED' }],
    });
    const { rules, addresses } = await store.lock(targetId, [id], []);
    expect(Object.keys(CHANGED).toSorted()).toEqual(Object.keys(ruleLife.NEW).toSorted());
    expect(rules.find((rule) => rule.id === id)).toMatchObject(CHANGED);
    expect((await store.lockAlone([id])).rules).toMatchObject([CHANGED]);
    expect(addresses).toMatchObject([ADDRESS]);
  });

  it('are not written where the status of an address has changed since it was read', async () => {
    const { store, targetId, ruleIds } = given;
    const read = async () => (await store.lock(targetId, ruleIds, [])).addresses[0]!;
    const { id } = await read();
    await store.save({ addresses: [{ ...ADDRESS, id, was: 'REMOVING' }] });
    expect(await read()).toMatchObject({ status: 'APPLIED' });
  });

  it('come with what the addresses in these statuses hold besides', async () => {
    const { store, targetId, ruleIds } = given;
    const idsWith = async (...statuses: ResourceIpState['status'][]): Promise<string[]> =>
      (await store.lock(targetId, [ruleIds[0]], statuses)).rules.map(({ id }) => id).toSorted();
    expect(await idsWith('PENDING', 'REMOVING')).toEqual([ruleIds[0]]);
    expect(await idsWith('APPLIED')).toEqual([...ruleIds].toSorted());
  });

  it('are deleted only once nobody holds them', async () => {
    const { store, targetId, ruleIds } = given;
    const [id] = ruleIds;
    await store.deleteUnheld([id]);
    const { rules, holders } = await store.lock(targetId, [id], []);
    expect(rules).toHaveLength(1);
    await store.save({ ended: holders });
    await store.deleteUnheld([id]);
    expect((await store.lock(targetId, [id], [])).rules).toEqual([]);
  });

  it('are inserted unless the target has such a rule', async () => {
    const { store, targetId } = given;
    const rule = { ...CHANGED, key: 'key', address: '203.0.113.9/32', protocol: 'tcp', ports: '22' };
    const [inserted] = await store.insert(targetId, [{ ...rule, id: randomUUID() }]);
    expect((await store.lock(targetId, [inserted!.id], [])).rules).toMatchObject([rule]);
    expect(await store.insert(targetId, [{ ...rule, id: randomUUID() }])).toEqual([]);
  });
});
