import { demandOf, isGlobMatch, type GrantingRole } from './access-demand';

const role = (name: string, given: Partial<GrantingRole> = {}): GrantingRole => ({
  name,
  maxSessionDurationHours: null,
  requireReason: false,
  reasonPattern: null,
  approvals: 0,
  approverRoles: [],
  mayBreakGlass: false,
  ipv6PrefixLength: 128,
  ...given,
});
const on = (
  resourceName: string,
  ...roles: GrantingRole[]
): { resourceName: string; roles: GrantingRole[] } => ({
  resourceName,
  roles,
});
const DBA = { id: '1', name: 'DBA' };
const NET = { id: '2', name: 'Network' };
const asked = { hours: 2, reason: null, breakGlass: false };

describe('demandOf', () => {
  const strict = role('strict', { approvals: 2 });
  const once = role('once', { approvals: 1 });
  const short = role('short', { maxSessionDurationHours: 1 });

  it.each([
    ['the most lenient role of a resource counts', [on('a', strict, role('lenient'))], 0],
    ['a lenient role counts only for as long as it allows', [on('a', strict, short)], 2],
    ['of several resources the strictest counts', [on('a', once), on('b', strict), on('c', role('none'))], 2],
    [
      'a role that asks for a reason that is missing gives way to one that does not',
      [on('a', role('explained', { requireReason: true }), once)],
      1,
    ],
  ])('%s', (_, grants, approvals) => {
    expect(demandOf('PAID', grants, asked)).toMatchObject({ approvals });
  });

  it('those decide who may do so for every resource; the longest prefix counts', () => {
    const one = role('one', { approvals: 1, approverRoles: [DBA, NET], ipv6PrefixLength: 64 });
    const other = role('other', { approvals: 2, approverRoles: [NET], ipv6PrefixLength: 80 });
    expect(demandOf('PAID', [on('a', one), on('b', other)], asked)).toEqual({
      approvals: 2,
      approverRoles: [NET],
      setBy: 'role "other" on resource "b"',
      ipv6PrefixLength: 80,
    });
    const third = role('third', { approvals: 1 });
    expect(demandOf('PAID', [on('a', one), on('c', third)], asked)).toMatchObject({ refusal: 'deciders' });
  });

  it('without approval each resource needs a role that allows it', () => {
    const glass = on('a', role('glass', { approvals: 2, mayBreakGlass: true }));
    const emergency = { hours: 1, reason: 'why', breakGlass: true };
    expect(demandOf('PAID', [glass], emergency)).toMatchObject({ approvals: 0 });
    expect(demandOf('PAID', [glass, on('b', role('plain'))], emergency)).toEqual({
      refusal: 'break-glass',
      resourceName: 'b',
    });
  });
});

describe('isGlobMatch', () => {
  it.each([
    ['INC-12: why', 'INC-*', true],
    ['XINC-12', 'INC-*', false],
    ['a b c', 'a*b*c', true],
    ['ab', 'ab*b', false],
    ['aba', 'ab*ba', false],
    ['abba', 'ab*ba', true],
    ['exact', 'exact', true],
    ['exactly', 'exact', false],
    ['anything', '*', true],
    ['a.c', 'a.c', true],
    ['abc', 'a.c', false],
  ])('%s is like %s: %s', (text, pattern, expected) => {
    expect(isGlobMatch(text, pattern)).toBe(expected);
  });
});
