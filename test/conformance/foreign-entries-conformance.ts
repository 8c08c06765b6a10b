import { randomUUID } from 'node:crypto';
import type { CloudTarget, ProviderDriver, RuleChange } from '#drivers';
import { canonicalCidr, ruleKey, type ChangeResult } from '#rules';
import { SeededRandom } from '../simulation/seeded-random';
import { addition, allOf, kinds, remove } from './driver-actions';
import { targetOf, type ListType, type Stored } from './foreign-entries';
import { SimulatedCloud } from './simulated-cloud';

/** Batches between two changes by another program. */
const ROUND = 20;
const MAX_FOREIGN = 12;
const HOUR_S = 3600;

/** No other program has addresses in it. */
const NET = '203.0.113.';
const OURS = [
  ...Array.from({ length: 10 }, (_, index) => `${NET}${index + 1}/32`),
  `${NET}64/28`,
  `${NET}128/26`,
];
const canonical = (address: string): string => canonicalCidr(address)!.cidr;

/** Sends random batches to a target, and knows what has to be there after each. */
class RandomBatches {
  /** rules of ours by address: their id, and that of the provider */
  private readonly open = new Map<string, { ruleId: string; id: string }>();
  private readonly random: SeededRandom;
  private added = 0;

  constructor(
    private readonly type: ListType,
    private readonly cloud: SimulatedCloud,
    private readonly driver: ProviderDriver,
    seed: number,
  ) {
    this.random = new SeededRandom(seed);
  }

  /** @returns what was not as it has to be, of the first batch in which something was not; null: all was */
  async run(batches: number): Promise<object | null> {
    let others: Stored = { entries: [], siblings: {} };
    for (let batch = 0; batch < batches; batch += 1) {
      if (batch % ROUND === 0) others = await this.changeByOther(batch / ROUND);
      const changes = this.batch(others);
      const results = await this.driver.applyChanges(this.target, changes);
      const answered = kinds(results);
      const expected = changes.map((change) => (this.isForeignName(change) ? 'conflict' : 'done'));
      if (answered.join() !== expected.join()) return { batch, changes, results };
      for (const [index, change] of changes.entries()) this.record(change, results[index]!);
      // what is lost stays lost: it need not be looked at after each batch
      if (batch % 4 < 3 && batch < batches - 1) continue;
      const found = await this.found();
      const open = [...this.open.keys()].map((address) => address.replace(/\/.*/, ''));
      // as text: an order of fields is of another program, too
      const differs = JSON.stringify(found.others) !== JSON.stringify(others);
      if (differs || found.ours.toSorted().join() !== open.toSorted().join())
        return { batch, before: others, open, found };
    }
    return null;
  }

  private get target(): CloudTarget {
    const claims = [...this.open].map(([address, { ruleId }]) => [ruleKey(allOf(address)), ruleId] as const);
    return targetOf(this.type, this.cloud.url, new Map(claims));
  }

  /** Puts one more foreign entry on the list, each time at another position, and takes away one of many. */
  private async changeByOther(round: number): Promise<Stored> {
    const objects = await this.cloud.objects();
    const { entries } = this.type.stored(objects);
    const foreign = entries.filter((entry) => !this.isOurs(entry));
    const surplus = foreign.length < MAX_FOREIGN ? null : this.random.pick(foreign);
    const left = entries.filter((entry) => entry !== surplus);
    const next = left.toSpliced(round % (left.length + 1), 0, this.type.foreign(this.added++));
    await this.cloud.become(this.type.withEntries(objects, next));
    return (await this.found()).others;
  }

  private async found(): Promise<{ others: Stored; ours: string[] }> {
    const { entries, siblings } = this.type.stored(await this.cloud.objects());
    return {
      others: { entries: entries.filter((entry) => !this.isOurs(entry)), siblings },
      ours: entries.map(this.firstOf).filter((first) => first.startsWith(NET)),
    };
  }

  private firstOf = (entry: Stored['entries'][number]): string =>
    this.type.addressOf(entry).replace(/\/.*/, '');

  private isOurs(entry: Stored['entries'][number]): boolean {
    return this.firstOf(entry).startsWith(NET);
  }

  /** Some additions and removals of ours, and of what is another program's. */
  private batch({ entries }: Stored): RuleChange[] {
    const size = this.random.whole(1, 3);
    const addresses = new Set(Array.from({ length: size }, () => this.random.pick(OURS)));
    const changes = [...addresses].map((address) => {
      const known = this.open.get(address);
      return known && this.random.happens(0.7) ? remove(known.id) : this.addition(address, known?.ruleId);
    });
    const foreign = this.random.pick(entries);
    const id = this.type.named ? String(foreign['name']) : canonical(this.type.addressOf(foreign));
    const isTemporary = foreign['endsAt'] !== undefined && foreign['endsAt'] !== null;
    if (this.random.happens(0.1) && !isTemporary) changes.unshift(remove(id));
    if (this.random.happens(0.1) && !this.type.named) changes.push(this.addition(id));
    return changes;
  }

  private addition(address: string, ruleId: string = randomUUID()): RuleChange {
    const ends = this.type.endsByItself && { endsAt: Math.floor(Date.now() / 1000) + HOUR_S };
    return { ...addition(allOf(address), ruleId), ...ends };
  }

  private isForeignName(change: RuleChange): boolean {
    if (!this.type.named || change.action !== 'remove') return false;
    return ![...this.open.values()].some(({ id }) => id === change.providerRuleId);
  }

  private record(change: RuleChange, result: ChangeResult): void {
    if (result.result !== 'done') return;
    if (change.action === 'remove') {
      for (const [address, { id }] of this.open) if (id === change.providerRuleId) this.open.delete(address);
    } else if (OURS.includes(change.spec.address))
      this.open.set(change.spec.address, { ruleId: change.ruleId, id: result.providerRuleId! });
  }
}

/** Random batches of a driver on a list with entries of other programs at every position. */
export function describeForeignEntries(type: ListType, batches: number): void {
  describe(`Entries of other programs on ${type.resourceType}`, () => {
    let cloud: SimulatedCloud;
    beforeAll(async () => {
      cloud = await SimulatedCloud.start(type.provider, { read: [], add: [], remove: [] }, 100, 0);
    });
    afterAll(() => cloud.close());

    it(`keep their bytes, their order and what is beside them, in ${batches} random batches`, async () => {
      const registry = cloud.drivers();
      const driver = await registry.driverFor(type.provider, type.resourceType);
      expect(await new RandomBatches(type, cloud, driver, 20_260_731).run(batches)).toBeNull();
    });
  });
}
