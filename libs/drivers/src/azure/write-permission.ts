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
  patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.*')}$`, 'i').test(action);
  });
