import type { ProviderDriver } from '#drivers';
import type { DueRuleRow, HolderRow, OwnedAccess } from '#engine-store';
import { grouped, type Access, type RuleSettlement } from '#rules';
import type { Waiting } from './target-rows';

/** The due rules of a target to be settled through one access path. */
export interface Pass {
  readonly access: OwnedAccess;
  readonly rules: readonly DueRuleRow[];
  /** rules with further passes through other access paths */
  readonly shared: ReadonlySet<string>;
  /** ResourceIps that wait for these rules through this access path */
  readonly waiting: readonly Waiting[];
}

export interface Sorted {
  /** settled without reading the target: never written, or present without waiting holders */
  readonly settled: DueRuleRow[];
  /** kept by other holders: the released ones can be settled without reading the target */
  readonly kept: DueRuleRow[];
  readonly open: DueRuleRow[];
}

/** Limit per organization and round, so that other organizations and newly due rules get their turn. */
const MAX_ADD_PASSES = 2;

const hasWaiting = (rule: DueRuleRow): boolean => rule.holders.some((holder) => holder.status === 'PENDING');
const hasReleased = (rule: DueRuleRow): boolean =>
  rule.holders.some((holder) => holder.status === 'REMOVING');

const isSettled = (rule: DueRuleRow): boolean =>
  isAbandoned(rule) || (rule.desired ? isPresent(rule) : isGone(rule));

/** Whether it is unwanted and its resources were abandoned: its target is not expected to answer again. */
export const isAbandoned = ({ desired, abandoned }: DueRuleRow): boolean => !desired && abandoned !== null;

const isPresent = (rule: DueRuleRow): boolean =>
  rule.state === 'present' && !hasWaiting(rule) && !rule.inDoubt;

const isGone = (rule: DueRuleRow): boolean =>
  (rule.state === 'absent' || rule.writtenWith === null) && !rule.inFlight;

/** Sorts due rules by whether they need a read of the target. */
export function sortDue(due: readonly DueRuleRow[]): Sorted {
  const open = due.filter((rule) => !isSettled(rule));
  return {
    settled: due.filter(isSettled),
    kept: open.filter((rule) => rule.desired && hasReleased(rule)),
    open,
  };
}

/**
 * Groups rules by access path. Each waiting holder observes its rule through its own credential, so that pointing at another
 * tenant's target gives no access. An unwanted rule is removed through the path it was written through.
 */
export function passes(open: readonly DueRuleRow[]): Pass[] {
  const found = new Map<
    string,
    { access: OwnedAccess; rules: DueRuleRow[]; shared: Set<string>; waiting: HolderRow[] }
  >();
  for (const rule of open) {
    const paths = accessPathsOf(rule);
    for (const access of paths) {
      const key = accessKey(access);
      const pass = found.get(key) ?? { access, rules: [], shared: new Set(), waiting: [] };
      pass.rules.push(rule);
      if (paths.length > 1) pass.shared.add(rule.ruleId);
      if (rule.desired) pass.waiting.push(...waitingBy(rule, key));
      found.set(key, pass);
    }
  }
  return [...found.values()];
}

const removes = ({ rules }: Pass): boolean => rules.some((rule) => !rule.desired);

/**
 * Selects the passes of one round: all with removals, then a few per organization with additions only. Slow or denied
 * credentials of one tenant delay another's removals by at most one pass.
 */
export function roundOf(all: readonly Pass[]): Pass[] {
  const additions = all.filter((pass) => !removes(pass));
  const turns = [...grouped(additions, ({ access }) => access.organizationId).values()].flatMap((own) =>
    own.slice(0, MAX_ADD_PASSES),
  );
  return [...all.filter(removes), ...turns];
}

/**
 * Whether the additions of a pass need no read before them: nothing of it was written before, by another pass of the round
 * neither, and the provider refuses to add what exists.
 */
export const needsNoRead = ({ traits }: Pick<ProviderDriver, 'traits'>, { rules }: Pass): boolean =>
  (traits.refusesDuplicates ?? false) && rules.every(isNew);

const isNew = (rule: DueRuleRow): boolean =>
  rule.desired &&
  rule.mayOpen &&
  rule.state === 'absent' &&
  !rule.inFlight &&
  !rule.inDoubt &&
  !rule.recordedId &&
  rule.attempts === 0;

/**
 * Rebuilds a failed pass from the database, which has its intents and settlements.
 * @param rules of the pass, those to retry
 * @param due read after the failure
 * @returns undefined when nothing is left to do through this access path
 */
export function resumedPass(
  { access }: Pass,
  rules: readonly DueRuleRow[],
  due: readonly DueRuleRow[],
): Pass | undefined {
  const ids = new Set(rules.map(({ ruleId }) => ruleId));
  const { open } = sortDue(due.filter(({ ruleId }) => ids.has(ruleId)));
  return passes(open).find((pass) => accessKey(pass.access) === accessKey(access));
}

export const accessKey = (access: Access): string => `${access.credentialId} ${access.region ?? ''}`;

const waitingBy = (rule: DueRuleRow, key: string): HolderRow[] =>
  rule.holders.filter((holder) => holder.status === 'PENDING' && accessKey(holder.access) === key);

const distinct = (paths: readonly OwnedAccess[]): OwnedAccess[] => [
  ...new Map(paths.map((access) => [accessKey(access), access])).values(),
];

/** The access paths of waiting holders; without any, one path for the rule's next attempt. */
function accessPathsOf(rule: DueRuleRow): OwnedAccess[] {
  const ofStatus = (status: string): OwnedAccess[] =>
    rule.holders.filter((holder) => holder.status === status).map((holder) => holder.access);
  const waiting = rule.desired ? ofStatus('PENDING') : [];
  if (waiting.length > 0) return distinct(waiting);
  const { writtenWith, writerOrganizationId: organizationId } = rule;
  const written = writtenWith ? [{ ...writtenWith, organizationId }] : [];
  const paths = distinct(
    rule.desired ? [...ofStatus('APPLIED'), ...written] : [...written, ...ofStatus('REMOVING')],
  );
  // a path may no longer work: each attempt takes the next one
  const path = paths[rule.attempts % paths.length];
  return path ? [path] : [];
}

/** Rules of one round that wait for several access paths. */
export class SharedRules {
  /** access paths that have not shown the rule yet, by rule and revision: a rule that changed since may have further paths */
  private readonly open = new Map<string, Set<string>>();
  /** what the passes of the round have settled last, by rule id */
  private readonly found = new Map<string, RuleSettlement>();

  constructor(round: readonly Pass[]) {
    for (const { access, rules, shared } of round)
      for (const rule of rules.filter(({ ruleId }) => shared.has(ruleId))) {
        const paths = this.open.get(nameOf(rule)) ?? new Set();
        this.open.set(nameOf(rule), paths.add(accessKey(access)));
      }
  }

  /**
   * Its rules as the earlier passes of the round have left them: they were read before these. A rule that was added must be known by
   * its id, should it lose our mark meanwhile.
   */
  asFound(pass: Pass, inFlightMs: number): Pass {
    const rules = pass.rules.map((rule): DueRuleRow => {
      const found = this.found.get(rule.ruleId);
      if (!found) return rule;
      const isUnmanaged = found.isUnmanaged ?? rule.isUnmanaged;
      const providerRuleId = found.providerRuleId ?? rule.providerRuleId;
      return {
        ...rule,
        state: found.state ?? rule.state,
        isUnmanaged,
        providerRuleId,
        recordedId: isUnmanaged ? null : providerRuleId,
        ...(found.inFlight && { inFlight: true, inFlightMs, inDoubt: true }),
      };
    });
    return { ...pass, rules };
  }

  /**
   * Keeps shared rules due until each path has shown them present, because a pass of one of them may fail. Not longer: a due
   * rule keeps the other rules of its holders from being settled, and the next batch may be without it.
   */
  keepDue(found: readonly RuleSettlement[], { access, shared }: Pass): RuleSettlement[] {
    return found.map((rule) => {
      const before = this.found.get(rule.ruleId);
      // a pass that could not read knows no more than the one before it
      this.found.set(rule.ruleId, {
        ...rule,
        state: rule.state ?? before?.state ?? null,
        isUnmanaged: rule.isUnmanaged ?? before?.isUnmanaged ?? null,
        providerRuleId: rule.providerRuleId ?? before?.providerRuleId ?? null,
      });
      if (!shared.has(rule.ruleId)) return rule;
      const paths = this.open.get(nameOf(rule));
      const isShown = rule.state === 'present';
      if (isShown) paths?.delete(accessKey(access));
      // the other paths do not wait for the end of a doubt either
      const isDue = rule.dueInMs !== null && !isShown;
      return isDue || paths?.size === 0 ? rule : { ...rule, dueInMs: 0 };
    });
  }
}

const nameOf = ({ ruleId, revision }: Pick<RuleSettlement, 'ruleId' | 'revision'>): string =>
  `${ruleId} ${revision}`;
