import { randomUUID } from 'node:crypto';
import { DriverError } from '#drivers';
import type { CloudTarget, RuleChange } from '#drivers';
import { ruleKey, type ChangeResult, type ObservedRule, type RuleSpec } from '#rules';
import type { CloudFacts, DriverBench } from './driver-bench';

export type AddChange = Extract<RuleChange, { action: 'add' }>;

export const EXPIRES_AT = 1_900_000_000;
export const opening = ({ ports }: CloudFacts, cidr: string, port = 22): RuleSpec =>
  ports
    ? { address: cidr, protocol: 'tcp', ports: [{ from: port, to: port }] }
    : { address: cidr, protocol: 'all', ports: [] };

export const hosts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `203.0.${100 + Math.floor(index / 250)}.${index % 250}/32`);

const hosts6 = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `2001:db8::${(index + 1).toString(16)}/128`);

export const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: randomUUID(),
  providerRuleId,
});

export const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));

/** What was not even sent is refused as a whole. */
const refusedAll = (error: unknown, count: number): ChangeResult[] => {
  if (!(error instanceof DriverError)) throw error;
  const { kind, message } = error;
  return Array.from({ length: count }, () => ({ result: 'refused', kind, message }));
};

/** The kind of the DriverError a call throws. */
export const thrown = async (call: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await call.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return error instanceof DriverError ? error.kind : error;
};

/** A driver in the hand of a test, which knows of each object what the database would. */
export interface DriverHand {
  /** one port of one address, where the cloud knows ports */
  readonly open: (cidr: string, port?: number) => RuleSpec;
  /** of an IPv6 address, and of an IPv4 one instead where an object takes no other */
  readonly elsewhere: (v6: string, v4: string) => string;
  /** addresses of the other IP version, where the object takes it */
  readonly others: (count: number) => string[];
  readonly add: (spec: RuleSpec, deployment?: string) => AddChange;
  readonly apply: (changes: readonly RuleChange[], on?: CloudTarget) => Promise<ChangeResult[]>;
  readonly read: (on?: CloudTarget) => Promise<ObservedRule[]>;
  readonly addOne: (spec: RuleSpec, on?: CloudTarget) => Promise<{ change: AddChange; id: string }>;
  /** as the cloud itself tells them */
  readonly addresses: (on?: CloudTarget) => Promise<string[]>;
  /** every object is empty again */
  readonly forget: () => void;
}

/** @param bench and `target`: those of the case that runs */
export function driverHand(bench: () => DriverBench, target: () => CloudTarget): DriverHand {
  const open = (cidr: string, port = 22): RuleSpec => opening(bench().cloud, cidr, port);
  /** Of an IPv6 address, and of an IPv4 one instead where an object takes no other. */
  const elsewhere = (v6: string, v4: string): string => (bench().cloud.oneVersion ? v4 : v6);
  const others = (count: number): string[] =>
    hosts6(count).map((cidr, index) => elsewhere(cidr, `198.51.100.${index}/32`));
  const add = (spec: RuleSpec, deployment = target().deployment): AddChange => {
    const ruleId = randomUUID();
    return { action: 'add', ruleId, spec, mark: { deployment, ruleId, expiresAt: EXPIRES_AT }, config: {} };
  };
  /** What the database would claim to stand in each object: everything that was ever about to be added. */
  const claims = new Map<string, Map<string, string>>();
  const claimed = (on: CloudTarget): CloudTarget => ({
    ...on,
    claims: claims.get(on.identifier) ?? new Map<string, string>(),
  });
  const apply = (changes: readonly RuleChange[], on = target()): Promise<ChangeResult[]> => {
    const before = claimed(on);
    const adds = changes.filter((change) => change.action === 'add');
    claims.set(
      on.identifier,
      new Map([...before.claims, ...adds.map((change) => [ruleKey(change.spec), change.ruleId] as const)]),
    );
    return bench()
      .driver.applyChanges(before, changes)
      .catch((error: unknown) => refusedAll(error, changes.length));
  };
  const read = (on = target()): Promise<ObservedRule[]> => bench().driver.readRules(claimed(on));
  const addOne = async (spec: RuleSpec, on = target()): Promise<{ change: AddChange; id: string }> => {
    const change = add(spec);
    const [result] = await apply([change], on);
    if (result?.result !== 'done' || result.providerRuleId === null)
      throw new Error('The rule was not added');
    return { change, id: result.providerRuleId };
  };
  const addresses = async (on = target()): Promise<string[]> =>
    (await bench().openings(on)).map(({ address }) => address).sort();
  return {
    open,
    elsewhere,
    others,
    add,
    apply,
    read,
    addOne,
    addresses,
    forget: () => claims.clear(),
  };
}
