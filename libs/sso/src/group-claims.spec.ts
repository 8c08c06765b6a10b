import { groupsOf } from './group-claims';

const DEVELOPERS = ['developers'];

describe('Groups in a claim', () => {
  it.each([
    ['a list', 'groups', { groups: ['developers', 'a, b'] }, ['developers', 'a, b']],
    ['an empty list', 'groups', { groups: [] }, []],
    ['no claim', 'groups', { sub: 'x' }, []],
    ['null', 'groups', { groups: null }, []],
    ['one text', 'groups', { groups: 'Domain Users' }, ['Domain Users']],
    ['one distinguished name', 'group', { group: 'CN=dev,DC=example' }, ['CN=dev,DC=example']],
    ['objects with names', 'groups', { groups: [{ name: 'developers', id: 1 }] }, DEVELOPERS],
    ['one object with a name', 'groups', { groups: { name: 'developers' } }, DEVELOPERS],
    ['a path', 'realm_access.roles', { realm_access: { roles: DEVELOPERS } }, DEVELOPERS],
    ['a path to nothing', 'realm_access.roles', { realm_access: {} }, []],
    [
      'a path with dotted names',
      'access.my.app.roles',
      { access: { 'my.app': { roles: DEVELOPERS } } },
      DEVELOPERS,
    ],
    ['the literal name', 'a.b', { 'a.b': DEVELOPERS, a: { b: ['others'] } }, DEVELOPERS],
    [
      'an address as name',
      'https://x.example/groups',
      { 'https://x.example/groups': DEVELOPERS },
      DEVELOPERS,
    ],
    ['objects by role', 'urn:roles', { 'urn:roles': { developers: { '1': 'x.example' } } }, DEVELOPERS],
    ['hasgroups: false', 'groups', { hasgroups: false }, []],
  ])('%s', (_, claim, document, groups) => {
    expect(groupsOf([document], claim)).toEqual({ groups, problem: null });
  });

  it.each([
    ['a text with commas', { groups: 'developers,ops' }],
    ['an empty text', { groups: '' }],
    ['JSON as text', { groups: '["developers"]' }],
    ['a list with numbers', { groups: ['developers', 1] }],
    ['objects without names', { groups: [{ id: 'developers' }] }],
    ['an object', { groups: { roles: ['developers'] } }],
    ['an empty object', { groups: {} }],
    ['a number', { groups: 7 }],
    ['overage', { _claim_names: { groups: 'src1' } }],
    ['hasgroups', { hasgroups: true }],
    ['hasgroups as text', { hasgroups: 'true' }],
  ])('%s: not known, and administrators read why', (_, document) => {
    expect(groupsOf([document], 'groups')).toEqual({
      groups: null,
      problem: expect.stringContaining('roles stay as they are') as string,
    });
  });

  it.each([
    ['a list where the way goes on', { realm_access: ['developers'] }],
    ['a text where the way goes on', { realm_access: '{"roles":["developers"]}' }],
    ['overage of what the way begins with', { _claim_names: { realm_access: 'src1' } }],
  ])('%s: not known either', (_, document) => {
    expect(groupsOf([document], 'realm_access.roles').groups).toBe(null);
  });

  it('what one document says in a readable form counts, and silence only if all was read', () => {
    expect(groupsOf([{ groups: 7 }, { groups: DEVELOPERS }], 'groups')).toEqual({
      groups: DEVELOPERS,
      problem: null,
    });
    expect(groupsOf([{}], 'groups', 'its userinfo cannot be read').groups).toBe(null);
    expect(groupsOf([{ groups: DEVELOPERS }], 'groups', 'its userinfo cannot be read').groups).toEqual(
      DEVELOPERS,
    );
  });
});
