import { canHoldRule, type RuleAuthorship } from './due-rule';

const rule = (writerOrganizationId: string | null, isUnmanaged = false): RuleAuthorship => ({
  isUnmanaged,
  writerOrganizationId,
});

describe('canHoldRule', () => {
  it.each<[string, string, boolean, RuleAuthorship, boolean]>([
    ['allows the organization that wrote the rule', 'a', true, rule('a'), true],
    ['allows the organization that wrote the rule, with a read-only credential', 'a', false, rule('a'), true],
    ['allows another organization with a write-verified credential', 'b', true, rule('a'), true],
    ['refuses another organization with a read-only credential', 'b', false, rule('a'), false],
    ['allows any holder when the writing credential is deleted', 'b', false, rule(null), true],
    ['allows any holder of an unmanaged rule', 'b', false, rule('a', true), true],
  ])('%s', (_, organizationId, writeVerified, held, expected) => {
    expect(canHoldRule({ organizationId, writeVerified }, held)).toBe(expected);
  });
});
