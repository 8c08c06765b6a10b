import { cutPage } from '../paging';
import { firewallJson, LINK, networkLink } from './firewall-json';
import type { Firewall } from './firewalls';
import { invalid } from './gcp-error';
import { PROJECT } from './service-account';

const MAX_PAGE = 500;
const FILTER = /^(name|network) *(eq|ne|=|!=) *(?! )"?([^"]*)"?$/;

/** A page of firewall rules, ordered by name. @throws CloudError */
export function listFirewalls(query: URLSearchParams, rules: readonly Firewall[]): unknown {
  const size = readSize(query.get('maxResults'));
  const matching = rules.filter(readFilter(query.get('filter')));
  const token = query.get('pageToken') ?? '';
  const page = cutPage(matching, ({ name }) => name, token, size);
  if (!page) throw invalid(`Invalid value for field 'pageToken': '${token}'.`);
  return {
    kind: 'compute#firewallList',
    id: `projects/${PROJECT}/global/firewalls`,
    // Compute leaves an empty list out
    ...(page.items.length > 0 && { items: page.items.map(firewallJson) }),
    ...(page.next !== undefined && { nextPageToken: page.next }),
    selfLink: `${LINK}/firewalls`,
  };
}

function readSize(text: string | null): number {
  if (text === null || text === '0') return MAX_PAGE;
  const size = Number(text);
  if (Number.isInteger(size) && size > 0 && size <= MAX_PAGE) return size;
  throw invalid(
    `Invalid value for field 'maxResults': '${text}'. Must be between 0 and ${MAX_PAGE}, inclusive.`,
  );
}

/** A single expression: `eq` and `ne` match a regular expression against the whole field. */
function readFilter(text: string | null): (rule: Firewall) => boolean {
  if (text === null || text === '') return () => true;
  const [, field, operator = '', value = ''] = FILTER.exec(text) ?? [];
  if (!field) throw invalid("Invalid value for field 'filter': 'Invalid list filter expression.'");
  const isPattern = operator === 'eq' || operator === 'ne';
  const pattern = isPattern ? new RegExp(`^(?:${value})$`) : null;
  const isNegated = operator.startsWith('n') || operator.startsWith('!');
  return (rule) => {
    const content = field === 'name' ? rule.name : networkLink(rule.network);
    return (pattern ? pattern.test(content) : content === value) !== isNegated;
  };
}
