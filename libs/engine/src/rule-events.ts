import type {
  Affected,
  AffectedHolder,
  DueRuleRow,
  IpMove,
  RuleEvent,
  RuleSettlement,
  WrittenRule,
} from '#engine-store';
import { grouped } from '#rules';
import { isAbandoned } from './passes';

/** What a pass saw of a rule besides its state. */
export interface Remark {
  /** the provider refused to remove it, and will again */
  readonly refusal?: string;
  /** what its provider id lets in now */
  readonly changedTo?: string;
  /** it was seen to be ours by its recorded id alone */
  readonly unmarked?: true;
  /** the provider says that its whole target is gone */
  readonly gone?: string;
  /** it was given up, for this reason: whether it is present is not known any more */
  readonly abandoned?: string;
  /** how it is known to be closed, when it was not read */
  readonly note?: string;
}

/** What to record: of rules by how they were before and are now, of holders by where they moved. */
export function eventsOf(
  written: readonly WrittenRule[],
  { holders, rules }: Affected,
  moves: readonly IpMove[],
  found: readonly RuleSettlement[],
  remarks: ReadonlyMap<string, Remark>,
): { events: RuleEvent[]; possible: ReadonlySet<string> } {
  const settlementOf = new Map(found.map((rule) => [rule.ruleId, rule]));
  const movedTo = (to: IpMove['to']): Set<string> =>
    new Set(moves.filter((move) => move.to === to).map(({ id }) => id));
  const [applied, removed, failed] = [movedTo('APPLIED'), movedTo('REMOVED'), movedTo('FAILED')];
  const opened = new Set<string>();
  /** rules whose holders' access is over by an event of the rule, or never began */
  const over = new Set<string>();
  /** absent rules that may have been present before, without such an event */
  const possible = new Set<string>();
  const events: RuleEvent[] = [];
  for (const rule of written) {
    const { ruleId, cause } = rule;
    const now = settlementOf.get(ruleId)!;
    const remark = remarks.get(ruleId);
    const event = (kind: RuleEvent['kind'], more: Partial<RuleEvent> = {}): RuleEvent => ({
      kind,
      ruleId,
      cause,
      message: null,
      resourceIpIds: null,
      ...more,
    });
    if (now.stands && !rule.isUnmanaged && (rule.wasMissing || !rule.wasPresent)) {
      const own = holdersOf(holders, ruleId, applied);
      opened.add(ruleId);
      events.push(
        rule.wasMissing
          ? event('RESTORED', { cause: 'DRIFT_REPAIRED' })
          : event('OPENED', {
              cause: now.addCause,
              resourceIpIds: own.length > 0 ? own : null,
            }),
      );
    }
    if ((now.isUnmarked || remark?.unmarked) && !rule.wasUnmarked)
      events.push(
        event('UNMARKED', { message: 'Our mark was removed from it; its recorded id says that it is ours' }),
      );
    if (remark?.refusal !== undefined && remark.refusal !== rule.lastError)
      events.push(event('REMOVAL_REFUSED', { message: remark.refusal }));
    if (now.state !== 'absent') continue;
    const wasPossible = rule.wasPossible || rule.wasPresent;
    if (wasPossible && now.unwanted !== null)
      events.push({ ...event('CLOSED', { message: remark?.note ?? null }), ...endOf(remark) });
    else if (rule.wasPresent) events.push(event('MISSING', { cause: 'CHANGED_OUTSIDE' }));
    if (wasPossible && now.unwanted === null && !rule.wasPresent) possible.add(ruleId);
    else over.add(ruleId);
  }
  const state = new Map(rules.map((rule) => [rule.ruleId, rule.state]));
  const perHolder = (
    kind: RuleEvent['kind'],
    ips: ReadonlySet<string>,
    concerns: (ruleId: string) => boolean,
  ): void => {
    const own = holders.filter((holder) => ips.has(holder.resourceIpId) && !holder.isDetached);
    for (const [ruleId, of] of grouped(own, (holder) => holder.ruleId)) {
      if (!concerns(ruleId)) continue;
      const message =
        kind === 'ADD_REFUSED'
          ? (moves.find(({ id }) => of.some(({ resourceIpId }) => resourceIpId === id))?.errorMessage ?? null)
          : null;
      events.push({
        kind,
        ruleId,
        cause: null,
        message,
        resourceIpIds: of.map(({ resourceIpId }) => resourceIpId),
      });
    }
  };
  perHolder('HELD', applied, (ruleId) => !opened.has(ruleId));
  perHolder('RELEASED', removed, (ruleId) => !over.has(ruleId));
  perHolder('ADD_REFUSED', failed, (ruleId) => state.get(ruleId) !== 'present');
  const left = [
    ...leftToOthers(holders, failed),
    ...holders.filter(({ ruleId, status }) => status === 'FAILED' && possible.has(ruleId)),
  ];
  for (const { ruleId, resourceIpId, isDetached } of new Set(left)) {
    if (over.has(ruleId)) continue;
    events.push({
      kind: 'RELEASED',
      ruleId,
      cause: isDetached ? null : 'ADD_REFUSED',
      message: null,
      resourceIpIds: [resourceIpId],
    });
  }
  return { events, possible };
}

/** How a rule ended that is absent by our record, when that was not simply observed. */
function endOf(remark: Remark | undefined): Partial<RuleEvent> {
  if (remark?.abandoned !== undefined)
    return { kind: 'ABANDONED', cause: 'ABANDONED', message: remark.abandoned };
  if (remark?.gone !== undefined) return { cause: 'TARGET_GONE', message: remark.gone };
  if (remark?.changedTo !== undefined) return { kind: 'CHANGED', message: changedMessage(remark.changedTo) };
  return {};
}

/** What a person reads of a rule that was changed under its provider id. */
export const changedMessage = (changedTo: string): string =>
  `Another program changed it: it lets in ${changedTo} now, and is left alone`;

const holdersOf = (holders: readonly AffectedHolder[], ruleId: string, ips: ReadonlySet<string>): string[] =>
  holders
    .filter((holder) => holder.ruleId === ruleId && ips.has(holder.resourceIpId))
    .map(({ resourceIpId }) => resourceIpId);

/**
 * Holders that moved on or were refused, of rules that others keep: nothing is left to wait for.
 * @param failed ResourceIps that are refused now
 */
export function leftToOthers(
  holders: readonly AffectedHolder[],
  failed: ReadonlySet<string>,
): readonly AffectedHolder[] {
  const leaves = ({ isDetached, status, resourceIpId }: AffectedHolder): boolean =>
    isDetached || status === 'FAILED' || failed.has(resourceIpId);
  const live = holders.filter((holder) => holder.isLive && !leaves(holder));
  const kept = new Set(live.map(({ ruleId }) => ruleId));
  return holders.filter((holder) => leaves(holder) && kept.has(holder.ruleId));
}

/** Of rules that are settled without a look at their target. */
export const remarksOnAbandoned = (rules: readonly DueRuleRow[]): Map<string, Remark> =>
  new Map(
    rules
      .filter(isAbandoned)
      .map(({ ruleId, abandoned }): [string, Remark] => [ruleId, { abandoned: abandoned! }]),
  );
