import { bareAddress, readAddressOrCidr } from '../cidr';
import { carriesMark, type Opening } from '../ground-truth/ledger';
import { destinationPortsOf, sourcesOf, type RuleProperties } from './rule-content';

/** What a rule opens, the way the ground truth tells it: one opening for each address and port range. */
export function openingsOf(target: string, name: string, rule: RuleProperties): Opening[] {
  if (rule.direction !== 'Inbound' || rule.access !== 'Allow') return [];
  const protocol = rule.protocol === '*' ? 'all' : rule.protocol.toLowerCase();
  const openings = sourcesOf(rule).flatMap((source) =>
    destinationPortsOf(rule).map((range) => ({
      provider: 'AZURE' as const,
      target,
      address: addressOf(source),
      protocol,
      ...portsOf(range),
      ours: carriesMark([rule.description]),
    })),
  );
  return openings.map((opening, index) => ({
    ...opening,
    providerRuleId: index === 0 ? name : `${name}#${index + 1}`,
  }));
}

/** A service tag that lets everybody in is everybody. */
function addressOf(source: string): string {
  if (source === '*' || source === 'Internet') return '0.0.0.0/0';
  const cidr = readAddressOrCidr(source);
  return cidr ? bareAddress(cidr.text) : source;
}

function portsOf(range: string): Pick<Opening, 'fromPort' | 'toPort'> {
  if (range === '*') return { fromPort: null, toPort: null };
  const [from = 0, to = from] = range.split('-').map(Number);
  return { fromPort: from, toPort: to };
}
