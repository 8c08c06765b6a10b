import { randomUUID } from 'node:crypto';
import { DriverRegistry, type ProviderDriver, type RuleChange } from '#drivers';
import { planChanges, ruleKey, type DueHolder, type DueRule } from '#rules';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { simulatedObjects } from '../builders/resources/driver-load';
import { addition, allOf, remove, simulatedTarget } from './driver-actions';
import { SimulatedCloud } from './simulated-cloud';

const PROJECT = simulatedObjects('').ATLAS.identifier;
const ADDRESS = '203.0.113.7';
const SPEC = allOf(`${ADDRESS}/32`);
const HOUR_S = 3600;
const nowS = (): number => Math.floor(Date.now() / 1000);

const TARGET = simulatedTarget('ATLAS', PROJECT);

describe('Entries of Atlas', () => {
  let cloud: SimulatedCloud;
  let driver: ProviderDriver;
  const ruleId = randomUUID();

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('ATLAS', { read: [], add: [], remove: [] }, 200);
    driver = await cloud.drivers().driverFor('ATLAS', 'PROJECT');
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  const control = async (method: string, path: string, body?: object): Promise<void> => {
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
  };
  const ahead = (aheadSeconds: number): Promise<void> =>
    control('PUT', '/_clock', { provider: 'ATLAS', aheadSeconds });
  const add = (endsAt: number): RuleChange => ({ ...addition(SPEC, ruleId), endsAt });
  const apply = async (...changes: RuleChange[]): Promise<string[]> =>
    (await driver.applyChanges(TARGET, changes)).map(({ result }) => result);
  const addresses = async (): Promise<string[]> => (await cloud.rules(PROJECT)).map(({ address }) => address);
  const writes = (): Promise<number> => cloud.countOf('createAccessListEntry');

  it('end by Atlas’ own clock', async () => {
    expect(await apply(add(nowS() + HOUR_S))).toEqual(['done']);
    await ahead(HOUR_S - 60);
    expect(await addresses()).toEqual([ADDRESS]);
    await ahead(HOUR_S + 60);
    expect(await addresses()).toEqual([]);
    expect((await driver.readRules(TARGET)).rules).toEqual([]);
    expect(await driver.applyChanges(TARGET, [remove(SPEC.address)])).toMatchObject([
      { result: 'done', wasAbsent: true },
    ]);
  });

  it('of other programs are never sent, so that none of them gets an end', async () => {
    await cloud.addUnmanaged(PROJECT, { address: ADDRESS, port: 22, description: 'office' });
    expect(await apply(add(nowS() + HOUR_S))).toEqual(['done']);
    expect(await writes()).toBe(0);
    await ahead(8 * 86_400);
    expect(await addresses()).toEqual([ADDRESS]);
    const id = (await driver.readRules(TARGET)).rules[0]!.providerRuleId;
    expect(id).not.toBe(SPEC.address);
    // of a rule of ours that was there before
    await apply(remove(SPEC.address));
    expect(await addresses()).toEqual([ADDRESS]);
  });

  it('without an end of their own are changed ones, and get it back', async () => {
    await apply(add(nowS() + HOUR_S));
    const path = `/_rules?provider=ATLAS&target=${PROJECT}&address=${ADDRESS}`;
    await control('PATCH', path, { fields: { deleteAfterDate: null } });
    expect((await driver.readRules(TARGET)).rules).toMatchObject([
      { difference: 'it has no end of its own' },
    ]);
    await apply(add(nowS() + HOUR_S));
    expect((await driver.readRules(TARGET)).rules[0]!.difference).toBeUndefined();
  });

  it.each([
    ['without an end are never absent in ten days, and are renewed once', null],
    ['with an end in eight days are never absent before, renewed once, and gone after it', 8 * 24],
  ])('of a rule %s', async (_, endsAfterHours) => {
    const expiry = driver.traits.nativeExpiry!;
    const startS = nowS();
    const endS = endsAfterHours === null ? null : startS + endsAfterHours * HOUR_S;
    const holders = [{ status: 'APPLIED', expiresAt: endS }] as unknown as DueHolder[];
    const rule = { ruleId, key: ruleKey(SPEC), recordedId: SPEC.address, holders, mayOpen: true };
    const seen: boolean[] = [];
    const planned: string[] = [];
    for (let hour = 0; hour <= 240; hour += 1) {
      await ahead(hour * HOUR_S);
      const clock = { ...expiry, now: (startS + hour * HOUR_S) * 1000 };
      const isOver = endsAfterHours !== null && hour >= endsAfterHours;
      // without a worker nothing is removed
      const due = isOver ? [] : ([{ ...rule, desired: true }] as unknown as DueRule[]);
      const [change] = planChanges(due, (await driver.readRules(TARGET)).rules, clock);
      if (change && change.action !== 'remove')
        planned.push(change.action, ...(await apply(add(change.endsAt!))));
      seen.push((await addresses()).includes(ADDRESS));
    }
    // one hour later its two minutes are over, too
    const lastHour = endsAfterHours ?? 240;
    expect(seen.map((isThere, hour) => [hour, isThere])).toEqual(
      seen.map((_there, hour) => [hour, hour <= lastHour]),
    );
    expect(planned).toEqual(['add', 'done', 'renew', 'done']);
  });
});

describe('An entry that Atlas has accepted and not applied', () => {
  it('is not in force until its status says so', async () => {
    const simulator = await startSimulator({ atlasPendingMs: 300 });
    try {
      const registry = new DriverRegistry({ ATLAS_URL: `${simulator.url}/atlas` });
      const driver = await registry.driverFor('ATLAS', 'PROJECT');
      const ruleId = randomUUID();
      const target = { ...TARGET, claims: new Map([[ruleKey(SPEC), ruleId]]) };
      const change = { ...addition(SPEC, ruleId), endsAt: nowS() + HOUR_S };
      await driver.applyChanges(target, [change]);
      expect((await driver.readRules(target)).rules).toMatchObject([{ inForce: false }]);
      await vi.waitFor(async () =>
        expect((await driver.readRules(target)).rules[0]).not.toHaveProperty('inForce'),
      );
    } finally {
      await simulator.close();
    }
  });
});
