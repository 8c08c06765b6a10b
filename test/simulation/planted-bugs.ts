/** A text replacement in a source while it is loaded. */
export interface SourceEdit {
  /** relative to the repository root */
  readonly file: string;
  /** must occur exactly once, or loading fails */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly what: string;
  readonly edits: readonly SourceEdit[];
}

const ENGINE = 'libs/engine/src';
const LIFE = 'libs/rules/src/rule-life.ts';
const JUDGE = 'libs/rules/src/judge.ts';
const DECIDED = 'libs/rules/src/rule-decided.ts';
/** What requests and the sweep decide in SQL is in memory here: these bugs show that the oracles would see them. */
const MEMORY = 'test/simulation';

const bug = (what: string, file: string, find: string, replace: string): PlantedBug => ({
  what,
  edits: [{ file, find, replace }],
});

export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'revokes-a-shared-rule': bug(
    'a rule of which one holder is released counts as unwanted',
    'libs/engine-store/src/due-rule.ts',
    'const live = holders.filter(isLive);',
    'const live = holders.every(isLive) ? holders : [];',
  ),
  'ignores-changes-during-a-pass': bug(
    'a rule whose holders changed during a pass is judged as the pass has read them',
    `${ENGINE}/settle.ts`,
    'return { ...rule, state, inFlight, inFlightMs, inDoubt, removingMs, isTurned };',
    'return { ...taken, row: rule.row, isTurned: false && isTurned };',
  ),
  'forgets-in-doubt-changes': bug(
    'a call without an answer counts as failed',
    JUDGE,
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    'unknown: false,',
  ),
  'has-no-horizon': bug(
    'an add in doubt counts as lost at once',
    JUDGE,
    'if (rule.inFlight) return { ...retry(undefined, false), unknown: true };',
    '',
  ),
  'sends-after-a-pause': bug(
    'a driver that was paused between two requests of a call sends the second one',
    `${MEMORY}/model-driver.ts`,
    'const maySend = !isHalted && this.scheduler.now < sendUntil;',
    'const maySend = !isHalted;',
  ),
  'writes-after-a-lost-lease': bug(
    'a worker that was paused sends its changes without checking its lease',
    `${ENGINE}/pass.ts`,
    'held.assertSafeToWrite(intentAt, driver.traits.callTimeoutMs, readAt);',
    '',
  ),
  'settles-under-an-old-lease': bug(
    'a result is written without checking the lease generation',
    `${ENGINE}/settle.ts`,
    'if (!(await stores.leases.lock(tx, lease))) return null;',
    '',
  ),
  'takes-a-doubt-for-absence': bug(
    'a rule whose last change is in doubt is added without a read before',
    `${ENGINE}/access-paths.ts`,
    `  rule.state === 'absent' &&
  !rule.inFlight &&
  !rule.inDoubt &&
`,
    '',
  ),
  'adds-a-shared-rule-twice': bug(
    'a rule that several credentials wait for is added once for each, without a read',
    `${ENGINE}/converger.ts`,
    'isFresh = false;',
    '',
  ),
  'trusts-removal-answers': bug(
    'the answer to a removal counts as an observation of absence',
    JUDGE,
    'if (present && isOurs(present, rule.recordedId)) return retry(sent, true);',
    `if (sent?.action === 'remove' && sent.result.result !== 'refused') return { kind: 'absent' };
  if (present && isOurs(present, rule.recordedId)) return retry(sent, true);`,
  ),
  'extends-ended-sessions': bug(
    'a session that has ended can be extended',
    `${MEMORY}/requests.ts`,
    '!isLive(session) || endOf(session) <= this.tables.now()) return',
    'false) return',
  ),
  'renews-ended-sessions': bug(
    'the lease of a session that has ended can be renewed',
    `${MEMORY}/requests.ts`,
    '!isLive(session) || session.leaseMs === null || endOf(session) <= now) return',
    'session.leaseMs === null) return',
  ),
  'ignores-lost-leases': bug(
    'a session whose lease was lost lives until its planned end',
    `${MEMORY}/memory-sweep.ts`,
    'return this.live().filter((session) => endOf(session) <= now);',
    'return this.live().filter(({ expiresAt }) => expiresAt <= now);',
  ),
  'removes-unmanaged-rules': bug(
    'an unmanaged rule is removed like one of ours',
    'libs/rules/src/planner.ts',
    'if (present && isOurs(present, rule.recordedId)) return present.providerRuleId;',
    'if (present) return present.providerRuleId;',
  ),
  'gives-up-removals': bug(
    'a removal is not retried after six failures',
    DECIDED,
    'dueAt: isTurned ? now : now + landsMs,',
    'dueAt: !desired && attempts >= 6 ? null : isTurned ? now : now + landsMs,',
  ),
  'adds-after-expiry': bug(
    'a rule is added after its last holder has expired',
    'libs/rules/src/planner.ts',
    'const mayOpen = rule.desired && rule.mayOpen;',
    'const mayOpen = rule.desired;',
  ),
  'opens-in-a-restored-database': bug(
    'a rule is added before an operator has confirmed a restored database',
    'libs/engine-store/src/due-rule.ts',
    'mayOpen: !loaded.isRestored && ',
    'mayOpen: ',
  ),
  'closes-unknown-rules-of-a-restored-database': bug(
    'an orphan is removed before an operator has confirmed a restored database',
    LIFE,
    'dueAt: heldBack === null ? now : null,',
    'dueAt: now,',
  ),
  'repairs-without-limit': bug(
    'a rule that another program removes is added again every time',
    LIFE,
    'rule.lostCount >= MAX_REPAIRS;',
    'rule.lostCount >= 1000;',
  ),
  'leaves-orphans': bug(
    'an orphan is not removed',
    `${ENGINE}/drift-recorder.ts`,
    'if (orphans.length === 0) return [];',
    'return [];',
  ),
  'trusts-reads-of-others': bug(
    'a holder is APPLIED by a read through the credential of another one',
    'libs/rules/src/status.ts',
    `|| (to === 'APPLIED' && !wasRead)`,
    '',
  ),
  'forgets-the-second-access-path': bug(
    'a rule is not due any more after a read through the first of several access paths',
    `${ENGINE}/settle.ts`,
    'keepDue(rows, settlement);',
    '',
  ),
  'resends-in-flight-removals': bug(
    'a removal in doubt is sent again, and its horizon restarts',
    'libs/rules/src/planner.ts',
    'return rule.inFlight ? null : (rule.recordedId ?? null);',
    'return rule.recordedId ?? null;',
  ),
  'forgets-unobserved-adds': bug(
    'an add that succeeded and is not yet shown by reads is not waited for',
    JUDGE,
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    `unknown: result?.result === 'unknown',`,
  ),
  'waits-for-room-without-end': bug(
    'an addition to a full target is never given up',
    'libs/rules/src/rule-observed.ts',
    'attempts < MAX_TRIES_WHEN_FULL;',
    'attempts < 1000;',
  ),
  'misses-a-concurrent-release': bug(
    'two last holders released concurrently each count the other one as live',
    `${MEMORY}/releases.ts`,
    'const isKept = tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);',
    'const isKept = gone.filter((holder) => holder.ruleId === ruleId).length > 1 || tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);',
  ),
  'keeps-ended-holders': bug(
    'the holder of a REMOVED ResourceIp is not deleted',
    `${ENGINE}/settle.ts`,
    '(ended.has(resourceIpId) && !staysRefused && !detached.has(nameOf(holder))) ||',
    '',
  ),
  'keeps-refused-holders': bug(
    'a refused holder is not deleted while others hold its rule',
    `${ENGINE}/target-rows.ts`,
    `isGone || status === 'FAILED' || failed.has(resourceIpId);`,
    'isGone;',
  ),
  'forgets-moved-holders': bug(
    'the holder of an address that moved is deleted before its own status is decided',
    `${ENGINE}/target-rows.ts`,
    `(holder.status !== 'REMOVING' || decided.has(holder.resourceIpId))`,
    'true',
  ),
  'deletes-in-flight-rules': {
    what: 'a rule is deleted while a call in doubt may still take effect',
    edits: [
      {
        file: `${ENGINE}/settle.ts`,
        find: 'const absent = [...decisions].flatMap(([id, { isAbsent }]) => (isAbsent ? [id] : []));',
        replace: `const absent = [...decisions].flatMap(([id, { rule }]) => (rule.state !== 'present' && rule.unwantedSince !== null ? [id] : []));`,
      },
      {
        file: LIFE,
        find: `state === 'absent' && dueAt === null && (inFlightUntil === null || inFlightUntil <= now);`,
        replace: 'true;',
      },
    ],
  },
  'records-closed-when-sent': bug(
    'a rule is recorded as CLOSED when its removal is sent',
    'libs/rules/src/rule-events.ts',
    'if (!isAbsent) return events;',
    'if (!isAbsent && !(!desired && next.inFlightUntil !== null)) return events;',
  ),
  'certain-after-the-removal': bug(
    'a stale read after a removal counts as certain access',
    'libs/rules/src/ledger.ts',
    'earliest(lastSeen(rule, times), rule.removalSentAt);',
    'lastSeen(rule, times);',
  ),
  'certain-through-a-gap': bug(
    'a rule counts as certain up to a comparison that did not show it',
    LIFE,
    '{ ...rule, removalSentAt: lastCertain(rule, times) }',
    'rule',
  ),
  'leaves-changed-rules': bug(
    'a rule whose address was changed stays when nobody holds it any more',
    'libs/rules/src/planner.ts',
    'const [changed] = index.idsOf(rule);',
    'const changed = undefined as string | undefined;',
  ),
  'leaves-unmarked-rules': bug(
    'a rule of ours whose mark was removed counts as unmanaged',
    'libs/rules/src/planner.ts',
    '): boolean => ownRuleId !== null || providerRuleId === recordedId;',
    '): boolean => ownRuleId !== null;',
  ),
  'renews-by-the-lease-end': bug(
    'a provider ends a rule by the lease of its session, which heartbeats prolong without a write',
    'libs/engine-store/src/due-rule.ts',
    'const expiresAt = session?.expiresAt ?? staticEndsAt;',
    'const expiresAt = session?.endsAt ?? staticEndsAt;',
  ),
  'reports-only-held-rules': bug(
    'an unwanted rule that had no holder is not reported',
    `${ENGINE}/overdue.ts`,
    'rules.map((rule) => ruleLife.overdue(rule, now))',
    `rules.map((rule) => (rule.cause === 'ORPHAN' || rule.cause === 'STALE_RULE' ? rule : ruleLife.overdue(rule, now)))`,
  ),
  'has-no-overdue-alarm': bug(
    'an unwanted rule is reported after two minutes',
    `${ENGINE}/overdue.ts`,
    'REPORT_OVERDUE_AFTER_SECONDS = 55;',
    'REPORT_OVERDUE_AFTER_SECONDS = 120;',
  ),
  'sweeps-without-a-successor': bug(
    'the lease of a crashed sweeper does not expire',
    `${ENGINE}/sweeper-role.ts`,
    'const maySweep = isOwn || before.leaseUntil <= now ||',
    'const maySweep = isOwn ||',
  ),
};
