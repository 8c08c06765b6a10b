import { asOrganizationId, type DueRule, type TargetRule } from '#rules';
import { dueRules } from './due-rule';
import type { ResourceIp, Holder } from './rows';

describe('A due rule', () => {
  interface Claim {
    readonly organization: string;
    readonly writeVerified?: boolean;
    readonly status?: ResourceIp['status'];
  }
  /** A present rule written by organization a, with these holders. */
  const read = (claims: readonly Claim[], more: Partial<TargetRule> = {}): DueRule => {
    const rule = {
      id: 'rule',
      state: 'present',
      ports: '22',
      inFlightUntil: null,
      targetMissingSince: null,
      isUnmanaged: false,
      isMissing: false,
      cause: null,
      writerOrganizationId: asOrganizationId('a'),
      ...more,
    } as TargetRule;
    const holders = claims.map((_, index) => ({
      ruleId: 'rule',
      resourceIpId: `${index}`,
      cause: 'STATIC_RULE_CREATED',
      releasedAt: null,
    }));
    const addresses = claims.map(({ organization, writeVerified = false, status = 'APPLIED' }, index) => ({
      id: `${index}`,
      status,
      organizationId: asOrganizationId(organization),
      resource: {
        access: { credentialId: `of ${organization}`, region: null },
        config: {},
        writeVerified,
        abandoned: null,
      },
      session: null,
      staticEndsAt: null,
    }));
    return dueRules({
      now: 0,
      readAt: 0,
      comparedAt: null,
      knownSince: 0,
      listInFlightUntil: null,
      isRestored: false,
      rules: [rule],
      holders: holders as unknown as Holder[],
      addresses: addresses as unknown as ResourceIp[],
    })[0]!;
  };

  it('is not desired when only a read-only credential of another organization holds it', () => {
    expect(read([{ organization: 'b' }])).toMatchObject({ desired: false, removeCause: 'WRITER_RELEASED' });
  });

  it.each<[string, Claim[], Partial<TargetRule>]>([
    ['a write-verified holder of another organization', [{ organization: 'b', writeVerified: true }], {}],
    [
      'a read-only holder of the organization that wrote it',
      [{ organization: 'b' }, { organization: 'a' }],
      {},
    ],
    ['a read-only holder, while it is absent', [{ organization: 'b' }], { state: 'absent' }],
    ['a read-only holder, while it is unmanaged', [{ organization: 'b' }], { isUnmanaged: true }],
    [
      'a read-only holder, once the credential that wrote it is gone',
      [{ organization: 'b' }],
      { writerOrganizationId: null },
    ],
  ])('is desired when held by %s', (_, claims, more) => {
    expect(read(claims, more).desired).toBe(true);
  });

  it('has the recorded removal cause without a live holder', () => {
    expect(read([{ organization: 'a', status: 'REMOVING' }], { cause: 'USER_OFFBOARDED' })).toMatchObject({
      desired: false,
      removeCause: 'USER_OFFBOARDED',
    });
  });

  it('takes the addition cause from its holder, or DRIFT_REPAIRED for a missing rule', () => {
    expect(read([{ organization: 'a' }]).addCause).toBe('STATIC_RULE_CREATED');
    expect(read([{ organization: 'a' }], { isMissing: true }).addCause).toBe('DRIFT_REPAIRED');
  });
});
