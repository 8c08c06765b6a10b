import type { DueRuleRow, HolderRow } from '#engine-store';
import { asOrganizationId, RULE_BACKOFF, type Verdict } from '#rules';
import type { PassAccess } from './passes';
import { adopted, CREDENTIAL_DENIED, postponed, settlement } from './settle-rule';

const dueRule = (more: Partial<DueRuleRow> = {}): DueRuleRow => ({
  ruleId: 'rule',
  key: '203.0.113.1/32 tcp 22',
  desired: false,
  mayOpen: false,
  inFlight: false,
  addCause: 'SESSION_STARTED',
  removeCause: 'SESSION_EXPIRED',
  seenAs: null,
  spec: {
    address: '203.0.113.1/32',
    protocol: 'tcp',
    ports: [
      {
        from: 22,
        to: 22,
      },
    ],
  },
  state: 'present',
  isUnmanaged: false,
  abandoned: null,
  revision: 0,
  attempts: 0,
  inFlightMs: 0,
  inDoubt: false,
  targetMissingMs: null,
  writtenWith: null,
  writerOrganizationId: null,
  lastError: null,
  isUnwanted: false,
  isMissing: false,
  isUnmarked: false,
  holders: [],
  ...more,
});
const retry = (
  rule: DueRuleRow,
  more: { unknown?: boolean; stands?: boolean } = {},
): Verdict<DueRuleRow> => ({
  rule,
  kind: 'retry',
  message: null,
  unknown: false,
  stands: false,
  refused: false,
  ...more,
});

it('what fails again is looked at later and later, and half a minute later at most', () => {
  const waits = [0, 1, 2, 30].map(
    (attempts) => settlement(retry(dueRule({ attempts })), false, null, 0.99).dueInMs!,
  );
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  expect(waits.at(-1)).toBeGreaterThan(RULE_BACKOFF.capMs / 2);
  expect(waits.at(-1)).toBeLessThanOrEqual(RULE_BACKOFF.capMs);
});

it('a cloud that asks for an hour is asked again after half a minute', () => {
  expect(settlement(retry(dueRule()), false, 3_600_000, 0).dueInMs).toBe(RULE_BACKOFF.capMs);
});

it('what waits for the budget or for a refused credential has not failed, and says why it waits', () => {
  expect(postponed([dueRule({ attempts: 2 })], 800, CREDENTIAL_DENIED)).toEqual([
    expect.objectContaining({
      attempts: 2,
      dueInMs: 800,
      state: null,
      failed: false,
      message: CREDENTIAL_DENIED,
    }),
  ]);
});

it('what was refused and never stood is known to be absent; what stood, or may be on its way, is not', () => {
  const desired = (more: Partial<DueRuleRow>): DueRuleRow => dueRule({ desired: true, ...more });
  const states = [
    settlement(retry(desired({ state: 'absent' })), true, null, 0),
    settlement(retry(desired({ state: 'present' })), true, null, 0),
    settlement(retry(desired({ state: 'absent' }), { unknown: true }), true, null, 0),
    settlement(retry(desired({ state: 'absent', inFlight: true })), true, null, 0),
  ].map(({ state }) => state);
  expect(states).toEqual(['absent', 'unknown', 'unknown', 'unknown']);
});

describe('A rule that was observed present', () => {
  const present = (rule: DueRuleRow, unmarked = false) =>
    settlement({ rule, kind: 'present', providerRuleId: 'sgr-1', unmanaged: false, unmarked }, true, null, 0);

  it('is settled', () => {
    expect(present(dueRule({ desired: true }))).toMatchObject({
      state: 'present',
      stands: true,
      providerRuleId: 'sgr-1',
      isUnmanaged: false,
      isUnmarked: false,
      dueInMs: null,
      unwanted: null,
    });
  });

  it('is noted when it is ours by its recorded id alone', () => {
    expect(present(dueRule({ desired: true }), true)).toMatchObject({ isUnmanaged: false, isUnmarked: true });
  });

  it('is read once more when a removal that may still land no longer can', () => {
    const rule = dueRule({ desired: true, inFlight: true, inFlightMs: 5000 });
    expect(present(rule).dueInMs).toBeGreaterThan(5000);
    expect(present(rule).dueInMs).toBeLessThan(6000);
  });
});

describe('A rule that is to go', () => {
  it('is settled with the cause of its removal once it was observed absent', () => {
    const rule = dueRule({ removeCause: 'USER_OFFBOARDED', isUnmarked: true });
    expect(settlement({ rule, kind: 'absent', changedTo: null }, true, null, 0)).toMatchObject({
      state: 'absent',
      stands: false,
      stoodBefore: false,
      isUnmarked: false,
      dueInMs: null,
      unwanted: 'USER_OFFBOARDED',
    });
  });

  it('is due again at once when holders are left that write it themselves', () => {
    const rule = dueRule({ removeCause: 'WRITER_RELEASED' });
    expect(settlement({ rule, kind: 'absent', changedTo: null }, true, null, 0).dueInMs).toBe(0);
  });

  it('stands in the record only if this pass read it', () => {
    expect(settlement(retry(dueRule(), { stands: true }), true, null, 0)).toMatchObject({
      stands: true,
      state: null,
    });
    expect(settlement(retry(dueRule(), { stands: true }), false, null, 0).stands).toBe(false);
  });
});

describe('The way by which a rule is removed from now on', () => {
  const way = (credentialId: string, organizationId = 'a', region: string | null = null): PassAccess => ({
    credentialId,
    region,
    organizationId,
    deniedMs: null,
  });
  const holder = (access: PassAccess, more: Partial<HolderRow> = {}): HolderRow => ({
    resourceIpId: 'ip',
    status: 'APPLIED',
    pendingSince: '',
    cause: 'SESSION_STARTED',
    access: {
      ...access,
      organizationId: asOrganizationId(access.organizationId!),
    },
    writeVerified: false,
    abandoned: null,
    config: {},
    expiresAt: null,
    expired: false,
    ...more,
  });
  const [old, present, others] = [way('old'), way('new'), way('others', 'b')];
  const { credentialId, region } = old;
  const written = { writtenWith: { credentialId, region }, writerOrganizationId: 'a' };
  const adoptedBy = (access: PassAccess, holders: HolderRow[], more: Partial<DueRuleRow> = {}) =>
    adopted(dueRule({ desired: true, ...written, holders, ...more }), access);

  it('stays while the pass took it, or a live holder goes it', () => {
    expect(adoptedBy(old, [holder(present)])).toBeNull();
    expect(adoptedBy(present, [holder(old), holder(present)])).toBeNull();
  });

  it('is the pass’s once no live holder goes it any more', () => {
    expect(adoptedBy(present, [holder(present)])).toEqual({ credentialId: 'new', region: null });
    expect(adoptedBy(present, [holder(old, { status: 'REMOVING' }), holder(present)])).toEqual({
      credentialId: 'new',
      region: null,
    });
  });

  it('is another one in another region', () => {
    const elsewhere = way('old', 'a', 'eu-west-1');
    expect(adoptedBy(elsewhere, [holder(elsewhere)])).toEqual({ credentialId: 'old', region: 'eu-west-1' });
  });

  it('is another organization’s only where that is write-verified', () => {
    expect(adoptedBy(others, [holder(others)])).toBeNull();
    expect(adoptedBy(others, [holder(others, { writeVerified: true })])).toEqual({
      credentialId: 'others',
      region: null,
    });
  });

  it('is not another organization’s because of a holder that goes another way, or is being removed', () => {
    const verified = { writeVerified: true };
    expect(adoptedBy(others, [holder(others), holder(way('third', 'c'), verified)])).toBeNull();
    expect(adoptedBy(others, [holder(others, { ...verified, status: 'REMOVING' })])).toBeNull();
  });

  it('is whoever’s reads it when the credential that wrote it is gone', () => {
    const gone = { writtenWith: null, writerOrganizationId: null };
    expect(adoptedBy(others, [holder(others)], gone)).toEqual({ credentialId: 'others', region: null });
  });
});
