import { bareAddress, readAddressOrCidr } from '../cidr';
import { allTrafficRule, carriesMark, type LedgerRule } from '../ground-truth/ledger';
import { addressesOf, type Condition, type RuleInput } from './rule-input';

export interface StoredRule extends RuleInput {
  readonly id: string;
}

/** The firewall configuration of a project. */
export interface Firewall {
  readonly isEnabled: boolean;
  /** it has had a guard at some time: from then on, a project without guards counts as open to everybody */
  readonly isGuarded: boolean;
  readonly rules: readonly StoredRule[];
}

const ANYWHERE = ['0.0.0.0/0', '::/0'];

/**
 * The addresses that a project's rules allow, in the ledger's form: exceptions of its guards, and bypass rules. A project
 * without guards is open to everybody; it is recorded as such only when it had a guard before.
 */
export function ledgerRulesOf({ isEnabled, isGuarded, rules }: Firewall, target: string): LedgerRule[] {
  const allowed = (id: string, address: string, ours: boolean): LedgerRule =>
    allTrafficRule('VERCEL', target, address, ours, `${id}#${address}`);
  const groups = isEnabled ? guardsByTraffic(rules) : [];
  const everybody = groups.length === 0 && isGuarded ? ANYWHERE : [];
  const listed = groups.flatMap((guards) =>
    allowedByAll(guards).map((address) => allowed(guards[0]!.id, address, isOurs(guards[0]!))),
  );
  const bypasses = rules.filter(isBypass).flatMap((rule) =>
    rule.conditionGroup
      .flatMap(({ conditions }) => conditions.filter((condition) => isAddressCondition(condition, false)))
      .flatMap((condition) => canonicalAddresses(condition))
      .map((address) => allowed(rule.id, address, isOurs(rule))),
  );
  return [...everybody.map((address) => allowed('unguarded', address, false)), ...listed, ...bypasses];
}

/** Whether a rule denies all addresses except those that it lists. */
export const isGuard = ({ active, action, conditionGroup }: RuleInput): boolean =>
  active &&
  action.mitigate?.action === 'deny' &&
  conditionGroup.some(
    ({ conditions }) => !conditions.some((condition) => isAddressCondition(condition, false)),
  );

/** Guards grouped by the requests that they match: an address has to be allowed by all guards of a group. */
function guardsByTraffic(rules: readonly StoredRule[]): StoredRule[][] {
  const groups = new Map<string, StoredRule[]>();
  for (const rule of rules.filter(isGuard)) {
    const requests = rule.conditionGroup.map(({ conditions }) =>
      conditions.filter(({ type }) => type !== 'ip_address'),
    );
    const key = JSON.stringify(requests);
    groups.set(key, [...(groups.get(key) ?? []), rule]);
  }
  return [...groups.values()];
}

/** The addresses in a guard's "none of these" conditions: all conditions must hold for a denial, so each list allows. */
export const listOf = (rule: RuleInput): string[] => [
  ...new Set(
    rule.conditionGroup.flatMap(({ conditions }) =>
      conditions.filter((condition) => isAddressCondition(condition, true)).flatMap(canonicalAddresses),
    ),
  ),
];

function allowedByAll(guards: readonly StoredRule[]): string[] {
  const [first, ...others] = guards.map(listOf);
  return (first ?? []).filter((address) => others.every((list) => list.includes(address)));
}

const isBypass = ({ active, action }: RuleInput): boolean => active && action.mitigate?.action === 'bypass';

/** Whether a condition matches addresses. @param negated all addresses except the listed ones */
export const isAddressCondition = ({ type, op, neg = false }: Condition, negated: boolean): boolean =>
  type === 'ip_address' && (op === 'ninc' || op === 'neq' ? !neg : neg) === negated;

const canonicalAddresses = (condition: Condition): string[] =>
  addressesOf(condition).map((address) => bareAddress(readAddressOrCidr(address)?.text ?? address));

const isOurs = ({ name, description }: StoredRule): boolean => carriesMark([name, description]);
