import type { DueRuleRow, HolderRow, OwnedAccess } from '#engine-store';
import { asOrganizationId, RULE_BACKOFF, type Verdict } from '#rules';
import { accessToAdopt, postponed, settlement } from './outcome';
import { BUDGET_SPENT } from './provider-calls';

const dueRule = (more: Partial<DueRuleRow> = {}): DueRuleRow => ({
  ruleId: 'rule',
  key: '203.0.113.1/32 tcp 22',
  desired: false,
  mayOpen: false,
  inFlight: false,
  addCause: 'SESSION_STARTED',
  removeCause: 'SESSION_EXPIRED',
  recordedId: null,
  providerRuleId: null,
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
  isMissing: false,
  isUnmarked: false,
  isHeldBack: false,
  holders: [],
  ...more,
});
const retry = (
  rule: DueRuleRow,
  more: { unknown?: boolean; observedPresent?: boolean } = {},
): Verdict<DueRuleRow> => ({
  rule,
  kind: 'retry',
  message: null,
  unknown: false,
  observedPresent: false,
  refused: false,
  ...more,
});

it('settlement: backs off after failures, up to the cap', () => {
  const waits = [0, 1, 2, 30].map(
    (attempts) => settlement(retry(dueRule({ attempts })), false, null, 0.99).dueInMs!,
  );
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  expect(waits.at(-1)).toBeGreaterThan(RULE_BACKOFF.capMs / 2);
  expect(waits.at(-1)).toBeLessThanOrEqual(RULE_BACKOFF.capMs);
});

it('settlement: caps a wait requested by the provider', () => {
  expect(settlement(retry(dueRule()), false, 3_600_000, 0).dueInMs).toBe(RULE_BACKOFF.capMs);
});

it('postponed: keeps the attempts and sets the message', () => {
  expect(postponed([dueRule({ attempts: 2 })], 800, BUDGET_SPENT)).toEqual([
    expect.objectContaining({
      attempts: 2,
      dueInMs: 800,
      state: null,
      failed: false,
      message: BUDGET_SPENT,
    }),
  ]);
});

it('settlement: a desired rule stays absent unless it was present or a call is in flight', () => {
  const desired = (more: Partial<DueRuleRow>): DueRuleRow => dueRule({ desired: true, ...more });
  const states = [
    settlement(retry(desired({ state: 'absent' })), true, null, 0),
    settlement(retry(desired({ state: 'present' })), true, null, 0),
    settlement(retry(desired({ state: 'absent' }), { unknown: true }), true, null, 0),
    settlement(retry(desired({ state: 'absent', inFlight: true })), true, null, 0),
  ].map(({ state }) => state);
  expect(states).toEqual(['absent', 'unknown', 'unknown', 'unknown']);
});

describe('The settlement of a rule that was observed present', () => {
  const present = (rule: DueRuleRow, unmarked = false, unknown = false) =>
    settlement(
      { rule, kind: 'present', providerRuleId: 'sgr-1', unmanaged: false, unmarked, unknown },
      true,
      null,
      0,
    );

  it('keeps an addition in flight that did not add it', () => {
    expect(present(dueRule({ desired: true }), false, true)).toMatchObject({
      state: 'present',
      inFlight: true,
      dueInMs: null,
    });
    expect(present(dueRule({ desired: true }))).toMatchObject({ inFlight: false });
  });

  it('is not due again', () => {
    expect(present(dueRule({ desired: true }))).toMatchObject({
      state: 'present',
      observedPresent: true,
      providerRuleId: 'sgr-1',
      isUnmanaged: false,
      isUnmarked: false,
      dueInMs: null,
      unwanted: null,
    });
  });

  it('records that it is ours by its recorded id alone', () => {
    expect(present(dueRule({ desired: true }), true)).toMatchObject({ isUnmanaged: false, isUnmarked: true });
  });

  it('is due again after the deadline of a removal in flight', () => {
    const rule = dueRule({ desired: true, inFlight: true, inFlightMs: 5000 });
    expect(present(rule).dueInMs).toBeGreaterThan(5000);
    expect(present(rule).dueInMs).toBeLessThan(6000);
  });
});

describe('The settlement of an unwanted rule', () => {
  it('has its removal cause once it is observed absent', () => {
    const rule = dueRule({ removeCause: 'USER_OFFBOARDED', isUnmarked: true });
    expect(settlement({ rule, kind: 'absent' }, true, null, 0)).toMatchObject({
      state: 'absent',
      observedPresent: false,
      presentAtStart: false,
      isUnmarked: false,
      dueInMs: null,
      unwanted: 'USER_OFFBOARDED',
    });
  });

  it('is due again at once when remaining holders must write it themselves', () => {
    const rule = dueRule({ removeCause: 'WRITER_RELEASED' });
    expect(settlement({ rule, kind: 'absent' }, true, null, 0).dueInMs).toBe(0);
  });

  it('is observed present only if this pass read the target', () => {
    expect(settlement(retry(dueRule(), { observedPresent: true }), true, null, 0)).toMatchObject({
      observedPresent: true,
      state: null,
    });
    expect(settlement(retry(dueRule(), { observedPresent: true }), false, null, 0).observedPresent).toBe(
      false,
    );
  });
});

describe('accessToAdopt', () => {
  const path = (credentialId: string, organizationId = 'a', region: string | null = null): OwnedAccess => ({
    credentialId,
    region,
    organizationId,
  });
  const holder = (access: OwnedAccess, more: Partial<HolderRow> = {}): HolderRow => ({
    resourceIpId: 'ip',
    status: 'APPLIED',
    pendingSince: 0,
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
  const [old, present, others] = [path('old'), path('new'), path('others', 'b')];
  const { credentialId, region } = old;
  const written = { writtenWith: { credentialId, region }, writerOrganizationId: 'a' };
  const adoptedBy = (access: OwnedAccess, holders: HolderRow[], more: Partial<DueRuleRow> = {}) =>
    accessToAdopt(dueRule({ desired: true, ...written, holders, ...more }), access);

  it('is null while the pass or a live holder uses the recorded access path', () => {
    expect(adoptedBy(old, [holder(present)])).toBeNull();
    expect(adoptedBy(present, [holder(old), holder(present)])).toBeNull();
  });

  it('is that of the pass once no live holder uses the recorded one', () => {
    expect(adoptedBy(present, [holder(present)])).toEqual({ credentialId: 'new', region: null });
    expect(adoptedBy(present, [holder(old, { status: 'REMOVING' }), holder(present)])).toEqual({
      credentialId: 'new',
      region: null,
    });
  });

  it('differs by region', () => {
    const elsewhere = path('old', 'a', 'eu-west-1');
    expect(adoptedBy(elsewhere, [holder(elsewhere)])).toEqual({ credentialId: 'old', region: 'eu-west-1' });
  });

  it('is that of another organization only if it is write-verified', () => {
    expect(adoptedBy(others, [holder(others)])).toBeNull();
    expect(adoptedBy(others, [holder(others, { writeVerified: true })])).toEqual({
      credentialId: 'others',
      region: null,
    });
  });

  it('ignores write-verified holders with another access path or being removed', () => {
    const verified = { writeVerified: true };
    expect(adoptedBy(others, [holder(others), holder(path('third', 'c'), verified)])).toBeNull();
    expect(adoptedBy(others, [holder(others, { ...verified, status: 'REMOVING' })])).toBeNull();
  });

  it('is that of the pass when the writing credential is deleted', () => {
    const gone = { writtenWith: null, writerOrganizationId: null };
    expect(adoptedBy(others, [holder(others)], gone)).toEqual({ credentialId: 'others', region: null });
  });
});
