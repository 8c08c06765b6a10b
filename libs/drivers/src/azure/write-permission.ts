/** What changing the rules of a group takes. */
const NEEDED = [
  'Microsoft.Network/networkSecurityGroups/securityRules/read',
  'Microsoft.Network/networkSecurityGroups/securityRules/write',
  'Microsoft.Network/networkSecurityGroups/securityRules/delete',
];

/** One role's grant: what it allows, without what it excepts. `*` stands for any text. */
export interface Grant {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
}

/** @returns the actions that none of the grants allows */
export const missingActions = (grants: readonly Grant[]): string[] =>
  NEEDED.filter(
    (action) =>
      !grants.some(({ actions, notActions }) => covers(actions, action) && !covers(notActions, action)),
  );

const covers = (patterns: readonly string[], action: string): boolean =>
  patterns.some((pattern) => isMatch(pattern.toLowerCase(), action.toLowerCase()));

/**
 * Takes each part between two stars where it comes first: that leaves the most to the parts behind it. Patterns come
 * from a tenant's roles: as an expression, one of many stars would go back and forth for ever.
 */
function isMatch(pattern: string, action: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === action;
  if (!action.startsWith(head) || action.length < head.length + tail.length) return false;
  const end = action.length - tail.length;
  let from = head.length;
  for (const part of rest) {
    const at = action.slice(0, end).indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return action.endsWith(tail);
}
