import { bareAddress, readAddressOrCidr } from '../cidr';
import { carriesMark, type Opening } from '../ground-truth/ledger';
import { addressesOf, type Condition, type RuleInput } from './rule-input';

export interface StoredRule extends RuleInput {
  readonly id: string;
}

/** What a project's firewall is like. */
export interface Firewall {
  readonly isEnabled: boolean;
  /** somebody was kept out once: what lets everybody in again is an opening */
  readonly isGuarded: boolean;
  readonly rules: readonly StoredRule[];
}

const ANYWHERE = ['0.0.0.0/0', '::/0'];

/**
 * Whom the rules of a project let in: those whom its denying rules except, and those who skip them. Nobody is kept out
 * of a project without denying rules: that is told only once somebody was.
 */
export function openingsOf(target: string, { isEnabled, isGuarded, rules }: Firewall): Opening[] {
  const opening = (id: string, address: string, ours: boolean): Opening => ({
    provider: 'VERCEL',
    target,
    address,
    protocol: 'all',
    fromPort: null,
    toPort: null,
    ours,
    providerRuleId: `${id}#${address}`,
  });
  const places = isEnabled ? guardedPlaces(rules) : [];
  const everybody = places.length === 0 && isGuarded ? ANYWHERE : [];
  const listed = places.flatMap((guards) =>
    inAllOf(guards).map((address) => opening(guards[0]!.id, address, isOurs(guards[0]!))),
  );
  const bypasses = rules.filter(isBypass).flatMap((rule) =>
    rule.conditionGroup
      .flatMap(({ conditions }) => conditions.filter((condition) => isAbout(condition, false)))
      .flatMap((condition) => canonicalAddresses(condition))
      .map((address) => opening(rule.id, address, isOurs(rule))),
  );
  return [...everybody.map((all) => opening('unguarded', all, false)), ...listed, ...bypasses];
}

/** Whether a rule keeps out everybody but whom it lists. */
export const isGuard = ({ active, action, conditionGroup }: RuleInput): boolean =>
  active &&
  action.mitigate?.action === 'deny' &&
  conditionGroup.some(({ conditions }) => !conditions.some((condition) => isAbout(condition, false)));

/** Guards by what they are about: of the same requests, each of them has to let an address in. */
function guardedPlaces(rules: readonly StoredRule[]): StoredRule[][] {
  const places = new Map<string, StoredRule[]>();
  for (const rule of rules.filter(isGuard)) {
    const about = rule.conditionGroup.map(({ conditions }) =>
      conditions.filter(({ type }) => type !== 'ip_address'),
    );
    const key = JSON.stringify(about);
    places.set(key, [...(places.get(key) ?? []), rule]);
  }
  return [...places.values()];
}

/** "None of these" conditions hold all together: who is in one of them is not denied. */
export const listOf = (rule: RuleInput): string[] => [
  ...new Set(
    rule.conditionGroup.flatMap(({ conditions }) =>
      conditions.filter((condition) => isAbout(condition, true)).flatMap(canonicalAddresses),
    ),
  ),
];

function inAllOf(guards: readonly StoredRule[]): string[] {
  const [first, ...others] = guards.map(listOf);
  return (first ?? []).filter((address) => others.every((list) => list.includes(address)));
}

const isBypass = ({ active, action }: RuleInput): boolean => active && action.mitigate?.action === 'bypass';

/** A condition about addresses. @param negated about all others than these */
export const isAbout = ({ type, op, neg = false }: Condition, negated: boolean): boolean =>
  type === 'ip_address' && (op === 'ninc' || op === 'neq' ? !neg : neg) === negated;

const canonicalAddresses = (condition: Condition): string[] =>
  addressesOf(condition).map((address) => bareAddress(readAddressOrCidr(address)?.text ?? address));

const isOurs = ({ name, description }: StoredRule): boolean => carriesMark([name, description]);
