import { bareAddress, readAddressOrCidr } from '../cidr';
import { carriesMark, type LedgerRule } from '../ground-truth/ledger';
import { destinationPortsOf, sourcesOf, type RuleProperties } from './rule-content';

/** A rule in the ledger's form: one entry for each address and port range. */
export function ledgerRulesOf(target: string, name: string, rule: RuleProperties): LedgerRule[] {
  if (rule.direction !== 'Inbound' || rule.access !== 'Allow') return [];
  const protocol = rule.protocol === '*' ? 'all' : rule.protocol.toLowerCase();
  const ledgerRules = sourcesOf(rule).flatMap((source) =>
    destinationPortsOf(rule).map((range) => ({
      provider: 'AZURE' as const,
      target,
      address: addressOf(source),
      protocol,
      ...portsOf(range),
      ours: carriesMark([rule.description]),
    })),
  );
  return ledgerRules.map((ledgerRule, index) => ({
    ...ledgerRule,
    providerRuleId: index === 0 ? name : `${name}#${index + 1}`,
  }));
}

/** Service tags that allow everybody become 0.0.0.0/0. */
function addressOf(source: string): string {
  if (source === '*' || source === 'Internet') return '0.0.0.0/0';
  const cidr = readAddressOrCidr(source);
  return cidr ? bareAddress(cidr.text) : source;
}

function portsOf(range: string): Pick<LedgerRule, 'fromPort' | 'toPort'> {
  if (range === '*') return { fromPort: null, toPort: null };
  const [from = 0, to = from] = range.split('-').map(Number);
  return { fromPort: from, toPort: to };
}
