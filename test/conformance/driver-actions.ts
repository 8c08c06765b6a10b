import { randomUUID } from 'node:crypto';
import { DriverError } from '#drivers';
import type { CloudTarget, RuleChange } from '#drivers';
import { ruleKey, type ChangeResult, type ObservedRule, type RuleSpec } from '#rules';
import { simulatedObjects } from '../builders/resources/driver-load';
import type { CloudFacts, DriverBench } from './driver-bench';

export type AddChange = Extract<RuleChange, { action: 'add' }>;

const EXPIRES_AT = 1_900_000_000;
export const ruleSpecFor = ({ ports }: CloudFacts, cidr: string, port = 22): RuleSpec =>
  ports ? { address: cidr, protocol: 'tcp', ports: [{ from: port, to: port }] } : allOf(cidr);

export const hosts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `203.0.${100 + Math.floor(index / 250)}.${index % 250}/32`);

const hosts6 = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `2001:db8::${(index + 1).toString(16)}/128`);

/** All traffic of an address. */
export const allOf = (address: string): RuleSpec => ({ address, protocol: 'all', ports: [] });

export const addition = (
  spec: RuleSpec,
  ruleId: string = randomUUID(),
  deployment = 'conformance',
): AddChange => ({
  action: 'add',
  ruleId,
  spec,
  mark: { deployment, ruleId, expiresAt: null },
  config: {},
});

/** A target of a simulated cloud. @param data of another credential */
export function simulatedTarget(
  provider: keyof ReturnType<typeof simulatedObjects>,
  identifier: string,
  data?: Readonly<Record<string, string>>,
): CloudTarget {
  const { credential, ...target } = simulatedObjects('')[provider];
  return {
    ...target,
    identifier,
    credential: { ...credential, ...(data && { data }) },
    deployment: 'conformance',
    claims: new Map(),
  };
}

/** The target, with all traffic of these addresses recorded as ours. */
export const claiming = (target: CloudTarget, ...addresses: string[]): CloudTarget => ({
  ...target,
  claims: new Map(addresses.map((address) => [ruleKey(allOf(address)), `rule of ${address}`])),
});

export const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: randomUUID(),
  providerRuleId,
});

export const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));

/** A DriverError from `applyChanges` means that no change was sent: all are refused. */
const refusedAll = (error: unknown, count: number): ChangeResult[] => {
  if (!(error instanceof DriverError)) throw error;
  const { kind, message } = error;
  return Array.from({ length: count }, () => ({ result: 'refused', kind, message }));
};

/** The kind of the DriverError that a call throws; 'no error' when it succeeds. */
export const thrown = async (call: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await call.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return error instanceof DriverError ? error.kind : error;
};

/** Calls of a driver for tests. Records which rules were added, as the database does. */
export interface DriverActions {
  /** the spec for one port of one address, or without port where rules have none */
  readonly specOf: (cidr: string, port?: number) => RuleSpec;
  /** the IPv6 address, or the IPv4 one where targets accept one IP version */
  readonly v6OrV4: (v6: string, v4: string) => string;
  /** addresses of the other IP version, where targets accept it */
  readonly otherHosts: (count: number) => string[];
  readonly add: (spec: RuleSpec, deployment?: string) => AddChange;
  readonly apply: (changes: readonly RuleChange[], on?: CloudTarget) => Promise<ChangeResult[]>;
  readonly read: (on?: CloudTarget) => Promise<ObservedRule[]>;
  readonly addOne: (spec: RuleSpec, on?: CloudTarget) => Promise<{ change: AddChange; id: string }>;
  /** as the cloud reports them */
  readonly addresses: (on?: CloudTarget) => Promise<string[]>;
  /** Clears the recorded rules. */
  readonly forget: () => void;
}

/** @param bench and `target`: those of the running test */
export function driverActions(bench: () => DriverBench, target: () => CloudTarget): DriverActions {
  const specOf = (cidr: string, port = 22): RuleSpec => ruleSpecFor(bench().cloud, cidr, port);
  const v6OrV4 = (v6: string, v4: string): string => (bench().cloud.singleIpVersion ? v4 : v6);
  const otherHosts = (count: number): string[] =>
    hosts6(count).map((cidr, index) => v6OrV4(cidr, `198.51.100.${index}/32`));
  const add = (spec: RuleSpec, deployment = target().deployment): AddChange => {
    const change = addition(spec, randomUUID(), deployment);
    const ends = bench().driver.traits.nativeExpiry && { endsAt: Math.floor(Date.now() / 1000) + 3600 };
    return { ...change, mark: { ...change.mark, expiresAt: EXPIRES_AT }, ...ends };
  };
  /** Rules by target that the database would claim: everything that was ever sent to be added. */
  const claims = new Map<string, Map<string, string>>();
  /** Their keys by the ids under which they were added. */
  const recorded = new Map<string, string>();
  const claimed = (on: CloudTarget): CloudTarget => ({
    ...on,
    claims: claims.get(on.identifier) ?? new Map<string, string>(),
    recordedKeys: recorded,
  });
  const apply = async (changes: readonly RuleChange[], on = target()): Promise<ChangeResult[]> => {
    const before = claimed(on);
    const adds = changes.filter((change) => change.action === 'add');
    claims.set(
      on.identifier,
      new Map([...before.claims, ...adds.map((change) => [ruleKey(change.spec), change.ruleId] as const)]),
    );
    const results = await bench()
      .driver.applyChanges(before, changes)
      .catch((error: unknown) => refusedAll(error, changes.length));
    for (const [index, change] of changes.entries()) {
      const result = results[index]!;
      if (change.action === 'add' && result.result === 'done' && result.providerRuleId !== null)
        recorded.set(result.providerRuleId, ruleKey(change.spec));
    }
    return results;
  };
  const read = async (on = target()): Promise<ObservedRule[]> =>
    // when they end is of no interest here
    (await bench().driver.readRules(claimed(on))).rules.map(({ endsAt: _, ...rule }) => rule);
  const addOne = async (spec: RuleSpec, on = target()): Promise<{ change: AddChange; id: string }> => {
    const change = add(spec);
    const [result] = await apply([change], on);
    if (result?.result !== 'done' || result.providerRuleId === null)
      throw new Error('The rule was not added');
    return { change, id: result.providerRuleId };
  };
  const addresses = async (on = target()): Promise<string[]> =>
    (await bench().rules(on)).map(({ address }) => address).sort();
  return {
    specOf,
    v6OrV4,
    otherHosts,
    add,
    apply,
    read,
    addOne,
    addresses,
    forget: () => {
      claims.clear();
      recorded.clear();
    },
  };
}
