import { AZURE_FACTS, parseGroupId } from './azure.facts';

const SUBSCRIPTION = '00000000-0000-4000-8000-00000000ABCD';
const { identifier, nameTarget } = AZURE_FACTS.resourceTypes.NETWORK_SECURITY_GROUP!;
const full = (group: string, name: string, subscription = SUBSCRIPTION): string =>
  `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Network/networkSecurityGroups/${name}`;
const named = (text: string): ReturnType<typeof nameTarget> =>
  nameTarget({ identifier: text, config: {}, organization: 'any', hints: { subscriptionId: SUBSCRIPTION } });

describe('The identifier of a network security group', () => {
  it.each(['group/nsg', 'Group_1.(x)-y/nsg.a_b', full('group', 'nsg'), full('G', 'N').toUpperCase()])(
    'accepts %s',
    (text) => {
      expect(text).toMatch(identifier.pattern);
      expect(parseGroupId(named(text).identifier)).not.toBeNull();
    },
  );

  it.each([
    'nsg',
    'group/',
    '/nsg',
    'group./nsg',
    'group/-nsg',
    'group/nsg/rule',
    'group/nsg?x',
    'group/..',
    'a b/nsg',
    `${'g'.repeat(91)}/nsg`,
    `group/${'n'.repeat(81)}`,
    full('group', 'nsg', 'no-uuid'),
    `${full('group', 'nsg')}/securityRules/x`,
    `https://management.azure.com${full('group', 'nsg')}`,
  ])('rejects %s', (text) => {
    expect(text).not.toMatch(identifier.pattern);
  });

  it('is normalized to one target name', () => {
    const one = named('group/nsg');
    expect(one.identifier).toBe(full('group', 'nsg').toLowerCase());
    for (const text of ['GROUP/Nsg', full('Group', 'NSG'), full('group', 'nsg').toUpperCase()]) {
      expect(named(text)).toEqual(one);
    }
  });

  it('differs by subscription, resource group and name', () => {
    const other = full('group', 'nsg', '00000000-0000-4000-8000-000000000009');
    const keys = ['group/nsg', 'group/nsg2', 'group2/nsg', other].map((text) => named(text).key);
    expect(new Set(keys).size).toBe(4);
  });
});
