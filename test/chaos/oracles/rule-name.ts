import type { CloudRule } from './evidence';

/** One opening as the cloud and the database both name it: `AWS sg-1 203.0.113.7 tcp 22`. */
export type RuleName = string;

/** An address alone, without the length of a prefix that says nothing. */
export const bareAddress = (address: string): string => address.replace(/\/(32|128)$/, '');

/** Of what a cloud shows. */
export function nameInCloud(rule: CloudRule): RuleName {
  const { provider, target, address, protocol, fromPort, toPort } = rule;
  return [provider, target, bareAddress(address), plainProtocol(protocol), ports(fromPort, toPort)].join(' ');
}

/** Of a row of `rules`. @param key `ruleKey` of libs/rules */
export function nameInDatabase(target: { provider: string; identifier: string }, key: string): RuleName {
  const [address = '', protocol = '', portsText = '*'] = key.split(' ');
  return [target.provider, target.identifier, bareAddress(address), protocol, portsText].join(' ');
}

/** Whether somebody else changed this rule, too. @param hands `target address` */
export function byOutsideHand(hands: ReadonlySet<string>, name: RuleName): boolean {
  const [, target, address] = name.split(' ');
  return hands.has(`${target} ${address}`);
}

const plainProtocol = (protocol: string): string => (protocol === 'icmpv6' ? 'icmp' : protocol);

function ports(from: number | null, to: number | null): string {
  if (from === null || to === null || (from === 0 && to === 65_535)) return '*';
  return from === to ? String(from) : `${from}-${to}`;
}

/** Of a row of the ledger, or an item of a report: one name for each of its ports. */
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

/** The first two parts of a rule's name: what it stands in. */
export const targetOf = (name: RuleName): string => name.split(' ').slice(0, 2).join(' ');

export const addressOf = (name: RuleName): string => name.split(' ')[2]!;
