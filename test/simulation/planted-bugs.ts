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

const CONVERGENCE = 'apps/worker/src/convergence';
const MODEL = 'test/simulation/model';

const bug = (what: string, file: string, find: string, replace: string): PlantedBug => ({
  what,
  edits: [{ file, find, replace }],
});

/** Where the product decides in SQL, the edit is one of the model, which is held against the database. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'revokes-a-shared-rule': bug(
    'a rule with one holder that lets go counts as wanted by nobody',
    `${MODEL}/tables.ts`,
    'return this.holdersOf(rule).some((ip) => HOLDING.has(ip.status));',
    `const holders = this.holdersOf(rule); return holders.some((ip) => HOLDING.has(ip.status)) && !holders.some((ip) => ip.status === 'REMOVING');`,
  ),
  'counts-holders-before-the-look': bug(
    'what changed during a look is settled as if nothing had',
    `${MODEL}/settlement.ts`,
    'const same = rule.revision === found.revision;',
    'const same = true;',
  ),
  'forgets-unheard-changes': bug(
    'a call without an answer counts as one that failed',
    'libs/rules/src/planner.ts',
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    'unknown: false,',
  ),
  'has-no-horizon': bug(
    'an add that nobody heard of is taken for lost at once',
    'libs/rules/src/planner.ts',
    `return rule.inFlight ? retry(ruleId, { result: 'unknown', message: '' }) : { ruleId, kind: 'absent' };`,
    `return { ruleId, kind: 'absent' };`,
  ),
  'writes-after-a-lost-lease': bug(
    'a worker that stood still sends what it was about to send',
    `${CONVERGENCE}/object-writer.ts`,
    'held.mustBeCertain(intentAt, driver.traits.callTimeoutMs);',
    '',
  ),
  'settles-under-an-old-lease': bug(
    'the generation of the lease is not looked at when a result is written',
    `${MODEL}/settlement.ts`,
    'if (`${this.tables.targets.get(lease.targetId)!.leaseGeneration}` !== lease.generation) return null;',
    '',
  ),
  'says-removed-without-looking': bug(
    'the answer to a removal is taken for an observation',
    'libs/rules/src/planner.ts',
    `if (stands && stands.ownRuleId !== null) return retry(ruleId, result);`,
    `if (result?.result === 'done' || result?.result === 'unknown') return { ruleId, kind: 'absent' };
  if (stands && stands.ownRuleId !== null) return retry(ruleId, result);`,
  ),
  'extends-what-is-over': bug(
    'an extension does not look whether the session is over',
    `${MODEL}/requests.ts`,
    '!isLive(session) || session.expiresAt <= this.tables.now()) return',
    'false) return',
  ),
  'removes-foreign-rules': bug(
    'a rule without our mark is taken out like one of ours',
    'libs/rules/src/planner.ts',
    'return stands.ownRuleId === null ? null : stands.providerRuleId;',
    'return stands.providerRuleId;',
  ),
  'gives-up-removals': bug(
    'a removal that failed six times is not tried again',
    `${CONVERGENCE}/settle-rule.ts`,
    'dueInMs: awaitsLanding ?',
    'dueInMs: !rule.wanted && rule.attempts >= 6 ? null : awaitsLanding ?',
  ),
  'opens-after-the-end': bug(
    'a rule is added though its last holder has run out',
    'libs/rules/src/planner.ts',
    'if (rule.wanted && !open.has(rule.key) && rule.mayOpen)',
    'if (rule.wanted && !open.has(rule.key))',
  ),
  'fights-without-end': bug(
    'a rule that another hand takes out is put back every time',
    `${MODEL}/reconcile.ts`,
    'fighting && rule.lostCount >= MOST_FIGHTS ?',
    'fighting && rule.lostCount >= 1000 ?',
  ),
  'leaves-orphans': bug(
    'a rule with our mark that the database does not know is left alone',
    `${MODEL}/reconcile.ts`,
    'this.takeOver(lease.targetId, drift, access);',
    '',
  ),
  'believes-others': bug(
    'an address counts as let in because somebody else saw its rule',
    'libs/rules/src/status.ts',
    `|| (to === 'APPLIED' && !looked)`,
    '',
  ),
  'forgets-the-second-way': bug(
    'a rule is settled when the first of those who wait for it is served',
    `${CONVERGENCE}/settle-rule.ts`,
    'dueInMs: rule.dueInMs ?? 0',
    'dueInMs: rule.dueInMs',
  ),
  'sends-removals-without-end': bug(
    'a removal that nobody heard of is sent again before it can land no more, and waited for anew',
    'libs/rules/src/planner.ts',
    'if (!stands) return inFlight ? null : (seenAs ?? null);',
    'if (!stands) return seenAs ?? null;',
  ),
  'forgets-what-is-not-shown': bug(
    'an add that was done and that the look did not show is not waited for',
    'libs/rules/src/planner.ts',
    `unknown: result?.result === 'unknown' || result?.result === 'done',`,
    `unknown: result?.result === 'unknown',`,
  ),
  'forgets-late-removals': bug(
    'a rule that stands is settled while a removal that nobody heard of may still take it out',
    `${CONVERGENCE}/settle-rule.ts`,
    'dueInMs: rule.inFlight ? rule.inFlightMs + SOONEST_MS : null,',
    'dueInMs: null,',
  ),
  'makes-room-with-wanted-rules': bug(
    'in a full object rules that somebody holds are taken out too',
    'libs/rules/src/drift.ts',
    'if (ownRuleId === null || rule?.wanted) return [];',
    'if (ownRuleId === null) return [];',
  ),
};
