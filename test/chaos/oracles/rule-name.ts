import type { CloudRule } from './evidence';

/** Identifies a rule in the cloud and in the database: `AWS sg-1 203.0.113.7 tcp 22`. */
export type RuleName = string;

/** The address without the prefix length of a single host. */
export const bareAddress = (address: string): string => address.replace(/\/(32|128)$/, '');

/** The name of a rule in the cloud. */
export function nameInCloud(rule: CloudRule): RuleName {
  const { provider, target, address, protocol, fromPort, toPort } = rule;
  return [provider, target, bareAddress(address), plainProtocol(protocol), ports(fromPort, toPort)].join(' ');
}

/** The name of a row of `rules`. @param key `ruleKey` of libs/rules */
export function nameInDatabase(target: { provider: string; identifier: string }, key: string): RuleName {
  const [address = '', protocol = '', portsText = '*'] = key.split(' ');
  return [target.provider, target.identifier, bareAddress(address), protocol, portsText].join(' ');
}

/** Whether another program changed this rule. @param changes `target address` */
export function wasChangedOutside(changes: ReadonlySet<string>, name: RuleName): boolean {
  const [, target, address] = name.split(' ');
  return changes.has(`${target} ${address}`);
}

const plainProtocol = (protocol: string): string => (protocol === 'icmpv6' ? 'icmp' : protocol);

function ports(from: number | null, to: number | null): string {
  if (from === null || to === null || (from === 0 && to === 65_535)) return '*';
  return from === to ? String(from) : `${from}-${to}`;
}

/** The names of a ledger row or a report item: one for each port range. */
export function namesInLedger(of: {
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
}): RuleName[] {
  const { provider, target, address, protocol } = of;
  const ranges = of.ports === '' ? ['*'] : of.ports.split(',');
  return ranges.map((range) =>
    [provider, target, bareAddress(address), plainProtocol(protocol), range].join(' '),
  );
}

/** The target of a rule: the first two parts of its name. */
export const targetOf = (name: RuleName): string => name.split(' ').slice(0, 2).join(' ');

export const addressOf = (name: RuleName): string => name.split(' ')[2]!;
