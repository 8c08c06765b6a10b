/** An edit of a source while it is loaded. */
export interface SourceEdit {
  /** as seen from the repository's root */
  readonly file: string;
  /** occurs exactly once, or loading fails */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly what: string;
  readonly edits: readonly SourceEdit[];
}

const ENGINE = 'libs/engine/src';
const MODEL = 'test/simulation/model';

const bug = (what: string, file: string, find: string, replace: string): PlantedBug => ({
  what,
  edits: [{ file, find, replace }],
});

/** Where the product decides in SQL, the edit is one of the model, which is held against the database. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'revokes-a-shared-rule': bug(
    'a rule with one holder that lets go counts as wanted by nobody',
    'libs/engine-store/src/convergence.store.ts',
    'if (live.length === 0)',
    'if (live.length < row.holders.length)',
  ),
  'counts-holders-before-the-look': bug(
    'what changed during a look is settled as if nothing had',
    `${MODEL}/settlement.ts`,
    'const same = rule.revision === found.revision;',
    'const same = true;',
  ),
  'forgets-inDoubt-changes': bug(
    'a call without an answer counts as one that failed',
    'libs/rules/src/planner.ts',
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    'unknown: false,',
  ),
  'has-no-horizon': bug(
    'an add that nobody heard of is taken for lost at once',
    'libs/rules/src/planner.ts',
    `if (rule.inFlight) return retry(rule, { result: 'unknown', message: '' }, false);`,
    '',
  ),
  'writes-after-a-lost-lease': bug(
    'a worker that stood still sends what it was about to send',
    `${ENGINE}/target-writer.ts`,
    'held.mustBeCertain(intentAt, driver.traits.callTimeoutMs);',
    '',
  ),
  'settles-under-an-old-lease': bug(
    'the generation of the lease is not looked at when a result is written',
    `${ENGINE}/settle.ts`,
    'if (!(await stores.leases.lock(tx, lease))) return null;',
    '',
  ),
  'says-removed-without-looking': bug(
    'the answer to a removal is taken for an observation',
    'libs/rules/src/planner.ts',
    `if (present && isOurs(present, rule.seenAs)) return retry(rule, result, true);`,
    `if (result?.result === 'done' || result?.result === 'unknown') return { rule, kind: 'absent', changedTo: null };
  if (present && isOurs(present, rule.seenAs)) return retry(rule, result, true);`,
  ),
  'extends-what-is-over': bug(
    'an extension does not look whether the session is over',
    `${MODEL}/requests.ts`,
    '!isLive(session) || session.expiresAt <= this.tables.now()) return',
    'false) return',
  ),
  'removes-unmanaged-rules': bug(
    'a rule without our mark is taken out like one of ours',
    'libs/rules/src/planner.ts',
    'if (present) return isOurs(present, rule.seenAs) ? present.providerRuleId : null;',
    'if (present) return present.providerRuleId;',
  ),
  'gives-up-removals': bug(
    'a removal that failed six times is not tried again',
    `${ENGINE}/settle-rule.ts`,
    'dueInMs: awaitsLanding ?',
    'dueInMs: !rule.desired && rule.attempts >= 6 ? null : awaitsLanding ?',
  ),
  'opens-after-the-end': bug(
    'a rule is added though its last holder has run out',
    'libs/rules/src/planner.ts',
    'if (rule.desired && !seen.inForce(rule) && rule.mayOpen)',
    'if (rule.desired && !seen.inForce(rule))',
  ),
  'fights-without-end': bug(
    'a rule that another hand takes out is put back every time',
    `${MODEL}/reconcile.ts`,
    'isAgain && rule.lostCount >= MAX_REPAIRS;',
    'isAgain && rule.lostCount >= 1000;',
  ),
  'leaves-orphans': bug(
    'a rule with our mark that the database does not know is left alone',
    `${ENGINE}/reconciler.ts`,
    'drift.orphans.length === 0',
    'drift.orphans.length >= 0',
  ),
  'believes-others': bug(
    'an address counts as let in because somebody else saw its rule',
    'libs/rules/src/status.ts',
    `|| (to === 'APPLIED' && !looked)`,
    '',
  ),
  'forgets-the-second-way': bug(
    'a rule is settled when the first of those who wait for it is served',
    `${ENGINE}/settle-rule.ts`,
    'dueInMs: rule.dueInMs ?? 0',
    'dueInMs: rule.dueInMs',
  ),
  'sends-removals-without-end': bug(
    'a removal that nobody heard of is sent again before it can land no more, and waited for anew',
    'libs/rules/src/planner.ts',
    'if (rule.inFlight || seen.changedTo(rule) !== null) return null;',
    'if (seen.changedTo(rule) !== null) return null;',
  ),
  'forgets-what-is-not-shown': bug(
    'an add that was done and that the look did not show is not waited for',
    'libs/rules/src/planner.ts',
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    `unknown: result?.result === 'unknown',`,
  ),
  'makes-room-with-desired-rules': bug(
    'in a full object rules that somebody holds are taken out too',
    'libs/rules/src/drift.ts',
    'if (!isOurs({ ownRuleId, providerRuleId }, recorded) || rule?.desired) return [];',
    'if (!isOurs({ ownRuleId, providerRuleId }, recorded)) return [];',
  ),
  'does-not-see-the-other-release': bug(
    'two last holders that are released at once each take the other for one that stays',
    `${MODEL}/holders.ts`,
    'const isKept = tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);',
    'const isKept = gone.filter((holder) => holder.ruleId === ruleId).length > 1 || tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null);',
  ),
  'keeps-ended-holders': bug(
    'a holder whose ResourceIp is out stays in the live state',
    `${MODEL}/settlement.ts`,
    '(ended.includes(resourceIpId) && !isRefused && !isDetached(holder)) ||',
    '',
  ),
  'keeps-refused-holders': bug(
    'a refused holder stays for as long as others keep its rule',
    `${ENGINE}/rule-events.ts`,
    `isDetached || status === 'FAILED' || failed.has(resourceIpId);`,
    'isDetached;',
  ),
  'forgets-what-may-land': {
    what: 'a rule is deleted while a call that nobody heard of may still land',
    edits: [
      {
        file: `${ENGINE}/settle.ts`,
        find: `const absent = rules.filter(({ state }) => state === 'absent').map(({ ruleId }) => ruleId);`,
        replace: `const absent = rules.filter((rule) => rule.state !== 'present' && rule.unwanted !== null).map(({ ruleId }) => ruleId);`,
      },
      {
        file: `${MODEL}/settlement.ts`,
        find: `if (rule?.state !== 'absent') return;
    if (isForgettable(this.tables, rule)) {`,
        replace: `if (!rule) return;
    if (this.tables.holderRows(rule).length === 0) {`,
      },
    ],
  },
  'records-closed-when-sent': bug(
    'a rule is recorded as CLOSED when its removal was sent',
    `${ENGINE}/rule-events.ts`,
    `if (now.state !== 'absent') continue;`,
    `if (now.state !== 'absent' && !(now.unwanted !== null && now.inFlight)) continue;`,
  ),
  'certain-after-the-removal': bug(
    'a stale read after a removal makes the access certain',
    `${MODEL}/ledger.ts`,
    'least(lastSeen(rule, target), rule.removalSentAt);',
    'lastSeen(rule, target);',
  ),
  'certain-through-a-gap': bug(
    'a rule that a comparison did not show counts as present until then',
    `${MODEL}/reconcile.ts`,
    'rule.removalSentAt = Math.min(rule.removalSentAt ?? Infinity, seen ?? Infinity);',
    '',
  ),
  'removes-what-was-changed': bug(
    'a rule that lets in something else now is removed by its id',
    'libs/rules/src/planner.ts',
    'if (rule.inFlight || seen.changedTo(rule) !== null) return null;',
    'if (rule.inFlight) return null;',
  ),
  'leaves-unmarked-rules': bug(
    'a rule of ours whose mark was removed is left alone',
    'libs/rules/src/planner.ts',
    '): boolean => ownRuleId !== null || providerRuleId === seenAs;',
    '): boolean => ownRuleId !== null;',
  ),
  'reports-only-held-rules': bug(
    'an unwanted rule that had no holder is not reported',
    `${MODEL}/overdue.ts`,
    'rule.overdueAt === null &&',
    'rule.overdueAt === null && this.tables.holderRows(rule).length > 0 &&',
  ),
  'has-no-overdue-alarm': bug(
    'an unwanted rule is reported after two minutes',
    `${MODEL}/overdue.ts`,
    'rule.unwantedSince < now - seconds * 1000 &&',
    'rule.unwantedSince < now - 120_000 &&',
  ),
  'sweeps-without-a-successor': bug(
    'a sweeper that died keeps its lease',
    `${MODEL}/leases.ts`,
    'const maySweep = isOwn || lease.leaseUntil <= now ||',
    'const maySweep = isOwn ||',
  ),
};
