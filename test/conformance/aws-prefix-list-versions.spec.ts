import { randomUUID } from 'node:crypto';
import {
  DriverError,
  DriverRegistry,
  type CloudTarget,
  type ProviderDriver,
  type RuleChange,
} from '#drivers';
import { formatMark, type ChangeResult } from '#rules';
import {
  startSimulator,
  type RunningSimulator,
  type SimulatorOptions,
} from '../../apps/simulator/src/start-simulator';
import { SimulatorClient, type Fault } from '../harness/simulator-client';
import { until } from '../harness/until';

const LIST = 'pl-0123456789abcdef0';
const IPV6_LIST = 'pl-0123456789abcdef5';
const LIST_OF_AWS = 'pl-6da54004';
const MODIFY = 'ModifyManagedPrefixList';
const DESCRIBE = 'DescribeManagedPrefixLists';
const READ = 'GetManagedPrefixListEntries';

type AddChange = Extract<RuleChange, { action: 'add' }>;

const list = (identifier = LIST, deployment = 'test'): CloudTarget => ({
  resourceType: 'PREFIX_LIST',
  identifier,
  region: 'eu-west-1',
  credential: {
    credentialType: 'ACCESS_KEY',
    data: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
    externalId: null,
  },
  deployment,
  claims: new Map(),
});

const host = (index: number): string => `203.0.${100 + Math.floor(index / 250)}.${index % 250}/32`;

const hosts = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => host(from + index));

const add = (address: string, deployment = 'test'): AddChange => {
  const ruleId = randomUUID();
  const mark = { deployment, ruleId, expiresAt: null };
  return { action: 'add', ruleId, spec: { address, protocol: 'all', ports: [] }, mark, config: {} };
};

const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: randomUUID(),
  providerRuleId,
});

const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));

const idOf = (result: ChangeResult | undefined): string =>
  (result?.result === 'done' ? result.providerRuleId : null) ?? '';

const bare = (cidr: string): string => cidr.replace(/\/32$/, '');

const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.then(
    () => new Error('It succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw error;
};

/** A simulated AWS with a driver for it, and a second one for somebody else's hands. */
class Bench {
  private constructor(
    private readonly simulator: RunningSimulator,
    readonly cloud: SimulatorClient,
    readonly driver: ProviderDriver,
    readonly another: ProviderDriver,
  ) {}

  static async start(options: SimulatorOptions): Promise<Bench> {
    const simulator = await startSimulator({ readBurst: 100_000, writeBurst: 100_000, ...options });
    const environment = { AWS_ENDPOINT_URL_EC2: `${simulator.url}/aws/ec2` };
    const [driver, another] = await Promise.all(
      [0, 1].map(() => new DriverRegistry(environment).driver('AWS')),
    );
    return new Bench(simulator, new SimulatorClient(simulator.url), driver!, another!);
  }

  close(): Promise<void> {
    return this.simulator.close();
  }

  apply(...changes: RuleChange[]): Promise<ChangeResult[]> {
    return this.driver.applyChanges(list(), changes);
  }

  /** Another deployment puts an address in. */
  async elsewhere(address: string): Promise<string[]> {
    return kinds(await this.another.applyChanges(list(LIST, 'other'), [add(address, 'other')]));
  }

  async addresses(target = LIST): Promise<string[]> {
    return (await this.cloud.rules(target)).map(({ address }) => address).sort();
  }

  /** How many entries each change of the list named, refused ones included. */
  async changes(): Promise<number[]> {
    const calls = await this.cloud.calls();
    return calls.filter(({ operation }) => operation === MODIFY).map(({ items }) => items);
  }

  bend(fault: Omit<Fault, 'target'>): Promise<void> {
    return this.cloud.fault({ target: LIST, count: 1, ...fault });
  }

  /** Waits until a call that a fault slows down has arrived. */
  arrived(operation: string): Promise<unknown> {
    return until(`${operation} is under way`, async () =>
      (await this.cloud.calls()).some((call) => call.operation === operation && call.outcome === null),
    );
  }

  async unmanaged(address: string, description = 'office'): Promise<void> {
    const everything = { target: LIST, protocol: 'all', fromPort: 0, toPort: 0 };
    await this.cloud.addUnmanaged({ ...everything, address, description });
  }
}

/** What EC2's versions are for: whoever changes a prefix list changes exactly what was looked at. */
describe('The versions of an AWS prefix list', () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await Bench.start({ entriesPerList: 300, listChangeMs: 20 });
  });
  beforeEach(async () => {
    await fetch(`${bench.cloud.url}/_reset`, { method: 'POST' });
  });
  afterAll(() => bench.close());

  describe('other hands', () => {
    it.each([
      ['looked at', READ],
      ['asked to change', MODIFY],
    ])(
      'that come while the list is %s make the change a conflict: nothing of theirs is undone',
      async (_, operation) => {
        await bench.bend({ operation, kind: 'slow', delayMs: 400 });
        const applied = bench.apply(add(host(1)), add(host(2)));
        await bench.arrived(operation);
        await bench.unmanaged('198.51.100.7');
        expect(kinds(await applied)).toEqual(['conflict', 'conflict']);
        expect(await bench.addresses()).toEqual(['198.51.100.7']);
        expect(kinds(await bench.apply(add(host(1)), add(host(2))))).toEqual(['done', 'done']);
        expect(await bench.addresses()).toEqual(['198.51.100.7', bare(host(1)), bare(host(2))]);
      },
    );

    it.each([READ, MODIFY])(
      'keep the entry that they put in during %s, though it is what was to be added',
      async (operation) => {
        await bench.bend({ operation, kind: 'slow', delayMs: 400 });
        const applied = bench.apply(add(host(1)));
        await bench.arrived(operation);
        await bench.unmanaged(bare(host(1)));
        expect(kinds(await applied)).toEqual(['conflict']);
        expect(await bench.driver.readRules(list())).toMatchObject([{ ownRuleId: null }]);
        expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
        expect(await bench.driver.readRules(list())).toMatchObject([{ ownRuleId: null }]);
      },
    );

    it('of several writers at once change it as if one after the other', async () => {
      const write = async (driver: ProviderDriver, deployment: string, cidrs: string[]): Promise<number> => {
        for (let refused = 0; ; refused += 1) {
          const changes = cidrs.map((cidr) => add(cidr, deployment));
          const results = kinds(await driver.applyChanges(list(LIST, deployment), changes));
          if (results.every((kind) => kind === 'done')) return refused;
          expect(new Set(results)).toEqual(new Set(['conflict']));
        }
      };
      const sets = Array.from({ length: 6 }, (_, index) => hosts(5, 10 * index));
      await Promise.all([
        ...sets.slice(0, 3).map((cidrs) => write(bench.driver, 'test', cidrs)),
        ...sets.slice(3).map((cidrs) => write(bench.another, 'other', cidrs)),
      ]);
      expect(await bench.addresses()).toEqual(sets.flat().map(bare).sort());
      const ours = (await bench.driver.readRules(list())).filter(({ ownRuleId }) => ownRuleId !== null);
      expect(ours).toHaveLength(15);
    });

    it('are not seen in half: a look shows all of one version', async () => {
      expect(new Set(kinds(await bench.apply(...hosts(150).map((cidr) => add(cidr)))))).toEqual(
        new Set(['done']),
      );
      await bench.bend({ operation: READ, kind: 'slow', delayMs: 400 });
      const reading = bench.driver.readRules(list());
      await bench.arrived(READ);
      await bench.cloud.removeByHand(LIST, bare(host(0)));
      expect(await reading).toHaveLength(150);
      expect(await bench.driver.readRules(list())).toHaveLength(149);
    });
  });

  describe('calls', () => {
    it('name a hundred entries at most, each is made of the version before', async () => {
      const added = await bench.apply(...hosts(250).map((cidr) => add(cidr)));
      expect(new Set(kinds(added))).toEqual(new Set(['done']));
      expect(await bench.changes()).toEqual([100, 100, 50]);
      const removed = await bench.apply(add(host(250)), ...added.map((result) => remove(idOf(result))));
      expect(new Set(kinds(removed))).toEqual(new Set(['done']));
      expect((await bench.changes()).slice(3)).toEqual([100, 100, 51]);
      expect(await bench.addresses()).toEqual([bare(host(250))]);
    });

    it('end with the one in which another hand was met', async () => {
      await bench.bend({ operation: MODIFY, kind: 'conflict' });
      const results = await bench.apply(...hosts(150).map((cidr) => add(cidr)));
      expect(new Set(kinds(results))).toEqual(new Set(['conflict']));
      expect(await bench.changes()).toEqual([100]);
      expect(await bench.addresses()).toEqual([]);
    });

    it('are spared when everything stands already', async () => {
      await bench.apply(add(host(1)));
      expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
      expect(await bench.changes()).toEqual([1]);
    });

    it('ask for what is gone as well: what was looked at may be older than what is to go', async () => {
      const ids = (await bench.apply(add(host(1)), add(host(2)))).map(idOf);
      await bench.bend({ operation: DESCRIBE, kind: 'stale-read', delayMs: 600_000 });
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['conflict', 'conflict']);
      expect(await bench.addresses()).toHaveLength(2);
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['done', 'done']);
      expect(await bench.addresses()).toEqual([]);
    });

    it('that find nothing to take out succeed, alone or beside others', async () => {
      const ids = (await bench.apply(...hosts(3).map((cidr) => add(cidr)))).map(idOf);
      await bench.apply(...ids.slice(0, 2).map(remove));
      const before = (await bench.changes()).length;
      expect(kinds(await bench.apply(...ids.slice(0, 2).map(remove)))).toEqual(['done', 'done']);
      expect((await bench.changes()).slice(before)).toEqual([1, 1]);
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['done', 'done', 'done']);
      // a change made of the version that was looked at proves that the others are not in it
      expect((await bench.changes()).slice(before + 2)).toEqual([1]);
    });
  });

  describe('entries', () => {
    it('carry the mark as their description, and their address identifies them, whatever becomes of that', async () => {
      const change = add(host(1));
      const [result] = await bench.apply(change);
      const mark = formatMark(change.mark);
      expect(idOf(result)).toBe(`${LIST}/${host(1)}`);
      await bench.cloud.changeByHand(LIST, bare(host(1)), { description: `${mark} edited` });
      expect(await bench.driver.readRules(list())).toMatchObject([
        { providerRuleId: idOf(result), ownRuleId: null },
      ]);
      expect(kinds(await bench.apply(remove(idOf(result))))).toEqual(['done']);
      expect(await bench.addresses()).toEqual([]);
    });

    it('that came back for another deployment have another id, and are not taken out', async () => {
      const [earlier] = await bench.apply(add(host(1)));
      await bench.apply(remove(idOf(earlier)));
      const theirs = formatMark({ deployment: 'other', ruleId: randomUUID(), expiresAt: null });
      await bench.unmanaged(bare(host(1)), theirs);
      expect(await bench.driver.readRules(list())).toMatchObject([
        { providerRuleId: `${LIST}/${host(1)}#other`, ownRuleId: null },
      ]);
      expect(kinds(await bench.apply(remove(idOf(earlier))))).toEqual(['done']);
      expect(await bench.addresses()).toEqual([bare(host(1))]);
    });

    it('of one rule make place for another’s at the same address', async () => {
      const [earlier] = await bench.apply(add(host(1)));
      const later = add(host(1));
      expect(kinds(await bench.apply(later, remove(idOf(earlier))))).toEqual(['done', 'done']);
      expect(await bench.driver.readRules(list())).toMatchObject([{ ownRuleId: later.ruleId }]);
    });

    it('of the other IP version are refused alone, in words that say why', async () => {
      const results = await bench.driver.applyChanges(list(IPV6_LIST), [
        add(host(1)),
        add('2001:db8::7/128'),
      ]);
      expect(kinds(results)).toEqual(['invalid', 'done']);
      expect(results[0]).toMatchObject({
        message: `${IPV6_LIST} is a list of IPv6 addresses: ${host(1)} cannot be in it`,
      });
      expect(await bench.addresses(IPV6_LIST)).toEqual(['2001:db8::7']);
    });

    it('that find no place are refused with the list’s maximum, without a call', async () => {
      await bench.apply(...hosts(300).map((cidr) => add(cidr)));
      const before = (await bench.changes()).length;
      const [result] = await bench.apply(add('198.51.100.7/32'));
      expect(result).toMatchObject({
        kind: 'quota',
        message: `${LIST} is full: its maximum is 300 entries (MaxEntries)`,
      });
      expect(await bench.changes()).toHaveLength(before);
    });
  });

  describe('changes that were taken and not carried out', () => {
    it('are unknown, in EC2’s words, when they fail later; reading tells, and repeating them works', async () => {
      await bench.bend({ operation: MODIFY, kind: 'fail-later' });
      const [result] = await bench.apply(add(host(1)));
      expect(result).toEqual({
        result: 'unknown',
        message: 'modify-failed: The prefix list could not be modified.',
      });
      expect(await bench.driver.readRules(list())).toEqual([]);
      expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
    });

    it('are unknown when the list cannot be looked at any more', async () => {
      await bench.bend({ operation: MODIFY, kind: 'slow', delayMs: 300 });
      const applied = bench.apply(add(host(1)));
      await bench.arrived(MODIFY);
      await bench.bend({ operation: DESCRIBE, kind: 'refuse' });
      expect(kinds(await applied)).toEqual(['unknown']);
      expect(await bench.driver.readRules(list())).toHaveLength(1);
    });
  });

  it('needs the calls that the policy on AWS’s page allows, and no other', async () => {
    await bench.driver.verify(list());
    const [result] = await bench.apply(add(host(1)));
    await bench.apply(remove(idOf(result)));
    const { policy } = DriverRegistry.facts('AWS');
    const { Statement } = JSON.parse(policy) as { Statement: { Sid: string; Action: string[] }[] };
    const allowed = Statement.find(({ Sid }) => Sid === 'PrefixLists')!.Action;
    const asked = (await bench.cloud.calls()).map(({ operation }) => `ec2:${operation}`);
    expect([...new Set(asked)].sort()).toEqual(allowed);
  });

  it('belongs to who may change it: one of AWS is refused when it is verified', async () => {
    const error = await thrown(bench.driver.verify(list(LIST_OF_AWS)));
    expect(error).toMatchObject({
      kind: 'invalid',
      message: `${LIST_OF_AWS} is managed by AWS (com.amazonaws.eu-central-1.s3): nobody else changes it`,
    });
    expect(await bench.changes()).toEqual([]);
  });
});

/** As above, where EC2 takes longer for a change than anybody waits. */
describe('A prefix list that takes long to change', () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await Bench.start({ listChangeMs: 600_000 });
  });
  beforeEach(async () => {
    await fetch(`${bench.cloud.url}/_reset`, { method: 'POST' });
  });
  afterAll(() => bench.close());

  it('refuses a write that another hand’s change came before', async () => {
    await bench.bend({ operation: MODIFY, kind: 'slow', delayMs: 400 });
    const applied = bench.apply(add(host(1)));
    await bench.arrived(MODIFY);
    const answers = await Promise.all([bench.elsewhere('198.51.100.7/32'), applied]);
    const message = expect.stringContaining('IncorrectState') as unknown;
    expect(answers).toMatchObject([['unknown'], [{ result: 'refused', kind: 'conflict', message }]]);
  }, 40_000);

  it('leaves the outcome open, is not read as it was, and not written to meanwhile', async () => {
    expect(kinds(await bench.apply(add(host(1))))).toEqual(['unknown']);
    const [reading, results] = await Promise.all([
      thrown(bench.driver.readRules(list())),
      thrown(bench.apply(add(host(2)))),
      bench.driver.verify(list()),
    ]);
    expect([reading, results]).toMatchObject([
      { kind: 'conflict', message: `${LIST} is being changed right now` },
      { kind: 'conflict' },
    ]);
    expect(await bench.changes()).toEqual([1, 1]);
  }, 40_000);
});
