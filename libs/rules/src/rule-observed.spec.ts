import {
  asOrganizationId,
  observe,
  ruleLife,
  RULE_BACKOFF,
  type ChangeResult,
  type DueHolder,
  type DueRule,
  type Instant,
  type ObservedRule,
  type OwnedAccess,
  type PassFacts,
  type SentChange,
  type TargetRule,
} from './index';
import { accessToAdopt, type Moment } from './rule-decided';
import type { Decided } from './rule-events';
import { settleAtRest } from './rule-unread';

const NOW: Instant = 1_000_000;
const KEY = '203.0.113.1/32 tcp 22';
const ROW: TargetRule = {
  ...ruleLife.NEW,
  id: 'rule',
  state: 'present',
  possibleSince: NOW - 9000,
  presentSince: NOW - 9000,
  targetId: 'target',
  provider: 'AWS',
  identifier: 'sg',
  comparedAt: null,
  resourceType: 'SECURITY_GROUP',
  key: KEY,
  address: '203.0.113.1/32',
  protocol: 'tcp',
  ports: '22',
  writerOrganizationId: null,
};
const dueRule = (more: Partial<DueRule> = {}, row: Partial<TargetRule> = {}): DueRule => ({
  row: { ...ROW, state: more.state ?? 'present', ...row },
  ruleId: 'rule',
  key: KEY,
  spec: { address: '203.0.113.1/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  state: 'present',
  desired: false,
  mayOpen: false,
  isHeldBack: false,
  addCause: 'SESSION_STARTED',
  removeCause: 'SESSION_EXPIRED',
  recordedId: null,
  inFlight: false,
  inFlightMs: 0,
  inDoubt: false,
  isAwaited: false,
  hasExpired: false,
  removingMs: null,
  writtenWith: null,
  abandoned: null,
  holders: [],
  ...more,
});
const MOMENT: Moment = {
  now: NOW,
  read: { startedAt: NOW - 20, firstStartedAt: NOW - 30, endedAt: NOW - 10 },
  access: null,
  chance: 0.99,
};
const OURS: ObservedRule = { key: KEY, providerRuleId: 'sgr-1', ownRuleId: 'rule' };

/** What a pass found: the change it sent, if any, and the target afterwards. */
const seen = (
  rules: readonly ObservedRule[],
  action: SentChange['action'] = 'remove',
  result?: ChangeResult,
  waitMs: number | null = null,
): PassFacts => {
  const read = { rules, startedAt: 0, endedAt: 0 };
  const change = result && { action, cause: 'SESSION_EXPIRED' as const, result };
  return {
    firstRead: read,
    lastRead: read,
    sent: new Map(change && [['rule', change]]),
    error: null,
    waitMs,
  };
};
const failed = (kind: 'transient' | 'denied' | 'postponed', waitMs: number | null = null): PassFacts => ({
  firstRead: null,
  lastRead: null,
  sent: new Map(),
  error: { kind, message: 'why' },
  waitMs,
});
const decided = (rule: DueRule, facts: PassFacts, moment = MOMENT): Decided =>
  observe([rule], facts, moment)[0]!;
const dueInMs = ({ rule: { dueAt } }: Decided): number | null => (dueAt === null ? null : dueAt - NOW);
const UNREAD: Moment = { ...MOMENT, read: null };
const THROTTLED: ChangeResult = { result: 'refused', kind: 'throttled', message: 'slow down' };

describe('A rule after a pass', () => {
  it('backs off after failures, up to the cap', () => {
    const waits = [0, 1, 2, 30].map((attempts) =>
      dueInMs(decided(dueRule({}, { attempts }), failed('transient'), UNREAD))!,
    );
    expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
    expect(waits.at(-1)).toBeGreaterThan(RULE_BACKOFF.capMs / 2);
    expect(waits.at(-1)).toBeLessThanOrEqual(RULE_BACKOFF.capMs);
  });

  it('waits as long as the provider asks for, up to the cap', () => {
    expect(dueInMs(decided(dueRule(), seen([OURS], 'remove', THROTTLED, 3_600_000)))).toBe(
      RULE_BACKOFF.capMs,
    );
  });

  it('that waits for the calls of its account has failed no more often', () => {
    const rule = dueRule({}, { attempts: 2 });
    const attempts = [THROTTLED, { ...THROTTLED, isTurn: true } as const].map(
      (result) => decided(rule, seen([OURS], 'remove', result, 800)).rule.attempts,
    );
    expect(attempts).toEqual([3, 2]);
    const { sent } = seen([OURS], 'remove', { ...THROTTLED, isTurn: true });
    expect(decided(rule, { ...failed('denied', 800), sent }, UNREAD).rule.attempts).toBe(2);
  });

  it('that was postponed keeps its failures and shows why it waits', () => {
    const { rule } = decided(dueRule({}, { attempts: 2 }), failed('postponed', 800), UNREAD);
    expect(rule).toMatchObject({ attempts: 2, dueAt: NOW + 800, state: 'present', lastError: 'why' });
  });

  it('that is desired stays absent unless it was present or a call is in flight', () => {
    const unknown: ChangeResult = { result: 'unknown', message: '' };
    const states = [
      decided(dueRule({ desired: true, state: 'absent' }), seen([])),
      decided(dueRule({ desired: true, state: 'present' }), seen([])),
      decided(dueRule({ desired: true, state: 'absent' }), seen([], 'add', unknown)),
      decided(dueRule({ desired: true, state: 'absent', inFlight: true }), seen([])),
    ].map(({ rule }) => rule.state);
    expect(states).toEqual(['absent', 'unknown', 'unknown', 'unknown']);
  });

  it('that could not be renewed stays present, and is tried again', () => {
    const desired = dueRule({ desired: true, mayOpen: true, recordedId: 'sgr-1' }, { presentSince: 5 });
    const shown = { ...OURS, endsAt: 60 };
    const { rule, failed: givenUp } = decided(desired, seen([shown], 'renew', THROTTLED));
    expect(rule).toMatchObject({
      state: 'present',
      attempts: 1,
      lastError: 'slow down',
      nativeEndAt: 60_000,
    });
    expect([givenUp, rule.presentSince, rule.dueAt! > NOW]).toEqual([null, 5, true]);
    const done = decided(desired, seen([shown], 'renew', { result: 'done', providerRuleId: 'sgr-1' })).rule;
    expect(done).toMatchObject({ state: 'present', attempts: 0, dueAt: null, presentSince: 5 });
    const isNew = { result: 'done', providerRuleId: 'sgr-1', isNew: true } as const;
    expect(decided(desired, seen([shown], 'renew', isNew)).rule.presentSince).toBe(NOW - 10);
  });

  it('whose holders’ end has moved during the pass is due again', () => {
    const expiry = { maxSeconds: 86_400, marginSeconds: 120 };
    const holders = [{ status: 'APPLIED', expiresAt: NOW / 1000 + 3600 }] as unknown as DueRule['holders'];
    const desired = dueRule({ desired: true, mayOpen: true, recordedId: 'sgr-1', holders });
    const endOf = (seconds: number): ObservedRule => ({ ...OURS, endsAt: NOW / 1000 + seconds });
    const waits = [3600, 3720].map((seconds) =>
      dueInMs(decided(desired, seen([endOf(seconds)]), { ...MOMENT, expiry })),
    );
    expect(waits).toEqual([RULE_BACKOFF.capMs, null]);
  });

  it('that its provider has ended by itself says so when it is removed', () => {
    const gone = dueRule({ recordedId: 'sgr-1', hasExpired: true }, { presentSince: 5, possibleSince: 5 });
    const { events } = decided(gone, seen([], 'remove', { result: 'done', providerRuleId: null }));
    expect(events).toMatchObject([{ kind: 'CLOSED', message: 'It had expired by itself' }]);
  });

  it('that is desired and shown is settled, with the id that was shown', () => {
    const { rule, events } = decided(
      dueRule({ desired: true }, { state: 'unknown', presentSince: null, closing: true }),
      seen([OURS]),
    );
    expect(rule).toMatchObject({
      state: 'present',
      providerRuleId: 'sgr-1',
      dueAt: null,
      unwantedSince: null,
      closing: false,
    });
    expect(events).toMatchObject([{ kind: 'OPENED', cause: 'SESSION_STARTED' }]);
  });

  it('is due again after the deadline of a removal in flight', () => {
    const found = decided(dueRule({ desired: true, inFlight: true, inFlightMs: 5000 }), seen([OURS]));
    expect(dueInMs(found)).toBeGreaterThan(5000);
    expect(dueInMs(found)).toBeLessThan(6000);
  });

  it('that is unwanted and not shown is absent, for its cause', () => {
    const { rule, isAbsent, events } = decided(dueRule({ removeCause: 'USER_OFFBOARDED' }), seen([]));
    expect([isAbsent, rule.state, rule.dueAt, rule.cause]).toEqual([true, 'absent', null, 'USER_OFFBOARDED']);
    expect(events).toMatchObject([{ kind: 'CLOSED', cause: 'USER_OFFBOARDED' }]);
  });

  it('that loses its mark between the two reads is ours by the id that the first one showed', () => {
    const first = { rules: [OURS], startedAt: 0, endedAt: 0 };
    const after = (providerRuleId: string): PassFacts => ({
      ...seen([{ ...OURS, providerRuleId, ownRuleId: null }], 'add', {
        result: 'done',
        providerRuleId: null,
      }),
      firstRead: first,
    });
    const rule = dueRule({ desired: true });
    expect(decided(rule, after('sgr-1')).rule.isUnmanaged).toBe(false);
    expect(decided(rule, after('sgr-2')).rule.isUnmanaged).toBe(true);
  });
});

describe('A rule whose holders changed during the pass', () => {
  const isTurned = true;

  it('is due at once, without a failure, when no holder wants any more what was added', () => {
    const found = decided(
      dueRule({ isTurned }, { attempts: 3 }),
      seen([OURS], 'add', { result: 'done', providerRuleId: 'sgr-1' }),
    );
    expect(found.rule).toMatchObject({ dueAt: NOW, attempts: 0, observedAt: NOW - 20 });
    expect(found.rule.unwantedSince).toBe(NOW);
  });

  it('was removed for its cause, and is due at once for the new holder', () => {
    const { rule, isAbsent, events } = decided(
      dueRule({ isTurned, desired: true }),
      seen([], 'remove', { result: 'done', providerRuleId: null }),
    );
    expect([isAbsent, rule.dueAt, rule.unwantedSince]).toEqual([true, NOW, null]);
    expect(events).toMatchObject([{ kind: 'CLOSED', cause: 'SESSION_EXPIRED' }]);
  });

  it('is in doubt while its removal may take effect, although a read shows it', () => {
    const rule = dueRule({ isTurned, desired: true }, { inFlightUntil: NOW + 5000, state: 'unknown' });
    expect(decided(rule, seen([OURS], 'remove', { result: 'unknown', message: '' })).rule).toMatchObject({
      state: 'unknown',
      inFlightUntil: NOW + 5000,
      dueAt: NOW,
    });
  });

  it('needs a read although it was to be settled without one', () => {
    const [found] = settleAtRest(
      [dueRule({ desired: false, writtenWith: { credentialId: 'key', region: null } })],
      UNREAD,
    );
    expect([found!.isAbsent, found!.rule.state, found!.rule.dueAt]).toEqual([false, 'present', NOW]);
  });
});

describe('accessToAdopt', () => {
  const path = (credentialId: string, organizationId = 'a', region: string | null = null): OwnedAccess => ({
    credentialId,
    region,
    organizationId,
  });
  const holder = (access: OwnedAccess, more: Partial<DueHolder> = {}): DueHolder => ({
    status: 'APPLIED',
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
  const written = { writtenWith: { credentialId, region }, writer: 'a' };
  const adoptedBy = (
    access: OwnedAccess,
    holders: DueHolder[],
    more: { writtenWith?: null; writer?: null } = {},
  ) => {
    const { writer, writtenWith } = { ...written, ...more };
    const row = { ...ROW, writerOrganizationId: writer === null ? null : asOrganizationId(writer) };
    return accessToAdopt({ ...dueRule({ desired: true, writtenWith, holders }), row }, access);
  };

  const adopted = ({ credentialId: id, region: of }: OwnedAccess) => ({ credentialId: id, region: of });
  const elsewhere = path('old', 'a', 'eu-west-1');
  const verified = { writeVerified: true };

  it.each<[string, OwnedAccess, DueHolder[]]>([
    ['while the pass uses it', old, [holder(present)]],
    ['while a live holder uses it', present, [holder(old), holder(present)]],
    ['by one of another organization that is not write-verified', others, [holder(others)]],
    [
      'because of a write-verified holder with another path',
      others,
      [holder(others), holder(path('third', 'c'), verified)],
    ],
    [
      'because of a write-verified holder that is being removed',
      others,
      [holder(others, { ...verified, status: 'REMOVING' })],
    ],
  ])('does not replace the recorded path %s', (_, access, holders) => {
    expect(adoptedBy(access, holders)).toBeNull();
  });

  it.each<[string, OwnedAccess, DueHolder[], Parameters<typeof adoptedBy>[2]]>([
    ['no live holder uses the recorded one', present, [holder(present)], {}],
    ['its last holder leaves', present, [holder(old, { status: 'REMOVING' }), holder(present)], {}],
    ['the region differs', elsewhere, [holder(elsewhere)], {}],
    ['another organization is write-verified', others, [holder(others, verified)], {}],
    ['the writing credential is deleted', others, [holder(others)], { writtenWith: null, writer: null }],
  ])('is that of the pass when %s', (_, access, holders, more) => {
    expect(adoptedBy(access, holders, more)).toEqual(adopted(access));
  });
});
