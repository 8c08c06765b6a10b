import { missingActions as missingOf, RULE_ACTIONS, type Grant } from './write-permission';

const missingActions = (grants: readonly Grant[]): string[] => missingOf(grants, RULE_ACTIONS);

const RULES = 'Microsoft.Network/networkSecurityGroups/securityRules';

describe('Required actions of an Azure role', () => {
  it.each([
    ['a wildcard for everything', ['*'], []],
    ['a wildcard for networks', ['Microsoft.Network/*'], []],
    ['another case', ['microsoft.network/NETWORKSECURITYGROUPS/securityRules/*'], []],
    ['an unrelated exception', ['*'], ['Microsoft.Authorization/*/Write']],
    ['stars that match an empty text', ['Microsoft.Network/**networkSecurityGroups*/securityRules/*'], []],
    ['several parts in order', ['*network*groups*rules/*'], []],
  ])('are all granted by %s', (_, actions, notActions) => {
    expect(missingActions([{ actions, notActions }])).toEqual([]);
  });

  it.each([
    ['read access only', [{ actions: ['*/read'], notActions: [] }], ['write', 'delete']],
    ['an exception for delete', [{ actions: ['*'], notActions: [`${RULES}/delete`] }], ['delete']],
    [
      'parts in another order',
      [{ actions: ['*rules*groups/*'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    [
      'a suffix that an earlier part has consumed',
      [{ actions: ['*securityRules/read*rules/read'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    [
      'a dot that matches only a dot',
      [{ actions: ['MicrosoftXNetwork/*'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    ['no grants', [], ['read', 'write', 'delete']],
  ])('are partly missing with %s', (_, grants, missing) => {
    expect(missingActions(grants)).toEqual(missing.map((action) => `${RULES}/${action}`));
  });

  it('may be granted by several roles', () => {
    const actions = [[`${RULES}/read`], [`${RULES}/write`], [`${RULES}/delete`]];
    expect(missingActions(actions.map((some) => ({ actions: some, notActions: [] })))).toEqual([]);
  });
});
