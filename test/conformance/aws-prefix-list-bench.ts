import { randomUUID } from 'node:crypto';
import { DriverRegistry, type CloudTarget, type ProviderDriver, type RuleChange } from '#drivers';
import type { ChangeResult } from '#rules';
import {
  startSimulator,
  type RunningSimulator,
  type SimulatorOptions,
} from '../../apps/simulator/src/start-simulator';
import { SimulatorClient, type Fault } from '../harness/product/simulator-client';
import { until } from '../harness/until';
import { addition, allOf, kinds, simulatedTarget, type AddChange } from './driver-actions';

export const LIST = 'pl-0123456789abcdef0';
export const MODIFY = 'ModifyManagedPrefixList';
export const DESCRIBE = 'DescribeManagedPrefixLists';
export const READ = 'GetManagedPrefixListEntries';

export const list = (identifier = LIST, deployment = 'test'): CloudTarget => ({
  ...simulatedTarget('AWS', identifier),
  resourceType: 'PREFIX_LIST',
  deployment,
});

export const host = (index: number): string => `203.0.${100 + Math.floor(index / 250)}.${index % 250}/32`;

export const hosts = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => host(from + index));

export const add = (address: string, deployment = 'test'): AddChange =>
  addition(allOf(address), randomUUID(), deployment);

export const idOf = (result: ChangeResult | undefined): string =>
  (result?.result === 'done' ? result.providerRuleId : null) ?? '';

export const withoutLength = (cidr: string): string => cidr.replace(/\/32$/, '');

/** A simulated AWS with two drivers: ours, and one for another writer. */
export class PrefixListBench {
  private constructor(
    private readonly simulator: RunningSimulator,
    readonly cloud: SimulatorClient,
    readonly driver: ProviderDriver,
    readonly another: ProviderDriver,
  ) {}

  static async start(options: SimulatorOptions): Promise<PrefixListBench> {
    const simulator = await startSimulator({ readBurst: 100_000, writeBurst: 100_000, ...options });
    const environment = { AWS_ENDPOINT_URL_EC2: `${simulator.url}/aws/ec2` };
    const [driver, another] = await Promise.all(
      [0, 1].map(() => new DriverRegistry(environment).driverFor('AWS', 'PREFIX_LIST')),
    );
    return new PrefixListBench(simulator, new SimulatorClient(simulator.url), driver!, another!);
  }

  close(): Promise<void> {
    return this.simulator.close();
  }

  apply(...changes: RuleChange[]): Promise<ChangeResult[]> {
    return this.driver.applyChanges(list(), changes);
  }

  /** Another deployment adds an address. */
  async addByOtherDeployment(address: string): Promise<string[]> {
    return kinds(await this.another.applyChanges(list(LIST, 'other'), [add(address, 'other')]));
  }

  async addresses(target = LIST): Promise<string[]> {
    return (await this.cloud.rules(target)).map(({ address }) => address).sort();
  }

  /** The number of entries of each change of the list, including refused ones. */
  async changes(): Promise<number[]> {
    const calls = await this.cloud.calls();
    return calls.filter(({ operation }) => operation === MODIFY).map(({ items }) => items);
  }

  injectFault(fault: Omit<Fault, 'target'>): Promise<void> {
    return this.cloud.fault({ target: LIST, count: 1, ...fault });
  }

  /** Waits until a call that is delayed by a fault has arrived. */
  arrived(operation: string): Promise<unknown> {
    return until(`${operation} has arrived`, async () =>
      (await this.cloud.calls()).some((call) => call.operation === operation && call.outcome === null),
    );
  }

  async addUnmanaged(address: string, description = 'office'): Promise<void> {
    const allTraffic = { target: LIST, protocol: 'all', fromPort: 0, toPort: 0 };
    await this.cloud.addUnmanaged({ ...allTraffic, address, description });
  }
}
