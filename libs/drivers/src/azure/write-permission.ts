/** The actions needed to change the rules of a group. */
export const RULE_ACTIONS = [
  'Microsoft.Network/networkSecurityGroups/securityRules/read',
  'Microsoft.Network/networkSecurityGroups/securityRules/write',
  'Microsoft.Network/networkSecurityGroups/securityRules/delete',
];

/** One role's grant: `actions` minus `notActions`. `*` matches any text. */
export interface Grant {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
}

/** @returns the required actions that no grant allows */
export const missingActions = (grants: readonly Grant[], required: readonly string[]): string[] =>
  required.filter(
    (action) =>
      !grants.some(({ actions, notActions }) => covers(actions, action) && !covers(notActions, action)),
  );

const covers = (patterns: readonly string[], action: string): boolean =>
  patterns.some((pattern) => isMatch(pattern.toLowerCase(), action.toLowerCase()));

/**
 * Matches each part between two stars at its first occurrence, which leaves the most text for the parts after it.
 * Patterns come from a tenant's roles: converted to a regular expression, many stars would backtrack exponentially.
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
