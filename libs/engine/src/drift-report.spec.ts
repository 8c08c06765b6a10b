import type { AccessPath, KnownRules } from '#engine-store';
import { asOrganizationId, findDrift, type ObservedRule } from '#rules';
import { reportsOf } from './drift-report';

const path: AccessPath = {
  access: { credentialId: 'credential', region: null, organizationId: 'organization' },
  isProven: true,
  resources: [
    {
      id: 'resource',
      organizationId: asOrganizationId('organization'),
      name: 'bastion',
      config: {},
      lastOutcome: null,
    },
  ],
};

const rule = (key: string, more: Partial<KnownRules['rules'][number]>): KnownRules['rules'][number] => ({
  ruleId: key,
  key,
  state: 'present',
  desired: true,
  isUnmanaged: false,
  isSuspended: false,
  isMissing: false,
  providerRuleId: `id of ${key}`,
  targetMissing: false,
  wasObserved: true,
  ...more,
});
const ours = (key: string): ObservedRule => ({ key, providerRuleId: `id of ${key}`, ownRuleId: key });

const messageOf = (
  rules: KnownRules['rules'],
  observed: readonly ObservedRule[],
  open: string | null = null,
): string | null => {
  const known = { rules, unmanagedDigest: null };
  const read = { rules: [...observed], explainOpen: () => open, startedAt: 0, endedAt: 0 };
  const [report] = reportsOf([{ path, read }], known, { drift: findDrift(rules, observed) }, 0, false);
  return report!.message;
};

describe('The health message of a comparison', () => {
  it.each([
    ['a refused removal', rule('a', { desired: false }), [ours('a')]],
    ['a refused addition', rule('a', { state: 'absent' }), []],
    ['a late write', rule('a', { desired: false, state: 'absent' }), [ours('a')]],
  ])('does not blame another program for %s of ours', (_, known, observed) => {
    expect(messageOf([known], observed)).toMatch(/^Rules are not as they should be: /);
  });

  it('blames another program for what it did, and for nothing else', () => {
    const known = [rule('lost', {}), rule('kept', { desired: false })];
    expect(messageOf(known, [ours('kept')])).toBe(
      'Rules changed by another program: 1 missing, to be added again. Rules are not as they should be: 1 of ours that should be gone, removal is retried (0 unmanaged rules left alone)',
    );
  });

  it('says that a target lets everybody in, in the words of a verification, whatever else there is', () => {
    const open = 'bastion lets everybody in';
    expect(messageOf([], [], open)).toBe(open);
    expect(messageOf([rule('lost', {})], [], open)).toMatch(
      new RegExp(`^${open}. Rules changed by another program: 1 missing`),
    );
  });

  it('does not say that a rule is in order before a read has shown it so', () => {
    const written = rule('a', { state: 'unknown', isMissing: true });
    expect(messageOf([written], [])).toContain('1 missing, written again and not seen yet');
    expect(messageOf([written], [{ ...ours('a'), difference: 'it is disabled' }])).toContain(
      '1 of ours changed, to be written again: it is disabled',
    );
    expect(messageOf([rule('a', {})], [ours('a')])).toBeNull();
  });
});
