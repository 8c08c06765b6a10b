import { missingActions } from './write-permission';

const RULES = 'Microsoft.Network/networkSecurityGroups/securityRules';

describe('what a role allows', () => {
  it.each([
    ['everything', ['*'], []],
    ['networks', ['Microsoft.Network/*'], []],
    ['case', ['microsoft.network/NETWORKSECURITYGROUPS/securityRules/*'], []],
    ['an exception for something else', ['*'], ['Microsoft.Authorization/*/Write']],
    ['stars that stand for nothing', ['Microsoft.Network/**networkSecurityGroups*/securityRules/*'], []],
    ['parts in order', ['*network*groups*rules/*'], []],
  ])('is enough: %s', (_, actions, notActions) => {
    expect(missingActions([{ actions, notActions }])).toEqual([]);
  });

  it.each([
    ['reading', [{ actions: ['*/read'], notActions: [] }], ['write', 'delete']],
    ['all but deleting', [{ actions: ['*'], notActions: [`${RULES}/delete`] }], ['delete']],
    [
      'parts in another order',
      [{ actions: ['*rules*groups/*'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    [
      'an end that a part before it has taken',
      [{ actions: ['*securityRules/read*rules/read'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    [
      'a dot as any character',
      [{ actions: ['MicrosoftXNetwork/*'], notActions: [] }],
      ['read', 'write', 'delete'],
    ],
    ['nothing', [], ['read', 'write', 'delete']],
  ])('is too little: %s', (_, grants, missing) => {
    expect(missingActions(grants)).toEqual(missing.map((action) => `${RULES}/${action}`));
  });

  it('may come from several roles', () => {
    const actions = [[`${RULES}/read`], [`${RULES}/write`], [`${RULES}/delete`]];
    expect(missingActions(actions.map((some) => ({ actions: some, notActions: [] })))).toEqual([]);
  });
});
