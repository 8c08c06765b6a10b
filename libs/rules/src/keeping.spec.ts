import { keepsRule, type KeptRule } from './keeping';

const rule = (writerOrganizationId: string | null, isUnmanaged = false): KeptRule => ({
  isUnmanaged,
  writerOrganizationId,
});

describe('A live holder of a rule that is present', () => {
  it.each<[string, string, boolean, KeptRule, boolean]>([
    ['its own organization wrote, keeps it', 'a', true, rule('a'), true],
    ['its own organization wrote, keeps it with a credential that only reads', 'a', false, rule('a'), true],
    ['another organization wrote, keeps it when its credential may write', 'b', true, rule('a'), true],
    [
      'another organization wrote, does not keep it when its credential only reads',
      'b',
      false,
      rule('a'),
      false,
    ],
    ['was written with a credential that is gone, keeps it', 'b', false, rule(null), true],
    ['is unmanaged, keeps it', 'b', false, rule('a', true), true],
  ])('that %s', (_, organizationId, writeVerified, kept, expected) => {
    expect(keepsRule({ organizationId, writeVerified }, kept)).toBe(expected);
  });
});
