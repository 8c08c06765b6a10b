import type { DueRuleRow, Holder, LedgerRow, Origin } from '#engine-store';
import {
  canHoldRule,
  grouped,
  intervalOf,
  ruleName,
  type Instant,
  type ResourceIpStatus,
  type RuleCause,
  type RuleEventKind,
  type RuleSettlement,
} from '#rules';
import type { Affected, AffectedHolder, TargetRows } from './target-rows';

/** A status change of a ResourceIp; with the same status, only its message changes. */
export interface IpMove {
  readonly id: string;
  readonly from: ResourceIpStatus;
  readonly to: ResourceIpStatus;
  readonly errorMessage: string | null;
  readonly providerRuleId: string | null;
  /** it failed because its target holds no addresses of its IP version */
  readonly isWrongFamily: boolean;
}

/** What a pass found out about a rule besides its state. */
export interface Remark {
  /** the provider refused its removal, and would refuse it again */
  readonly refusal?: string;
  /** what another program made of it, as a phrase */
  readonly changedTo?: string;
  /** why its addresses are not let in as they should be: it is desired, and the last read shows something else */
  readonly withdrawn?: string;
  /** ours by its recorded id alone */
  readonly unmarked?: true;
  /** if it is settled as absent, that was not observed: whether it is present is unknown */
  readonly givenUp?: { readonly cause: 'ABANDONED' | 'TARGET_GONE'; readonly reason: string };
  /** how its removal is known without a read, or what it left behind without effect */
  readonly note?: string;
  /** an unmanaged rule for the same traffic is present */
  readonly isUnmanagedPresent?: true;
  /** names the unmanaged rules that let the address in after its end */
  readonly stillAllowedBy?: string | null;
}

/** Message of the ledger: the traffic was let in by an unmanaged rule, and is after the holder's end. */
export const UNMANAGED_STAYS = 'An unmanaged rule lets it in still';

/** Message for users about a rule that was given up. */
export const givenUpMessage = (reason: string): string => `Given up, not observed closed: ${reason}`;

/** Derives ledger events from the rules before and after the settlement, and from the moves of their holders. */
export function eventsOf(
  rows: TargetRows,
  affected: Affected,
  moves: readonly IpMove[],
  settled: readonly RuleSettlement[],
  remarks: ReadonlyMap<string, Remark>,
): { events: RuleEvent[]; possiblyPresent: ReadonlySet<string> } {
  const { holders, rules } = affected;
  const moved = (isMeant: (move: IpMove) => boolean): Set<string> =>
    new Set(moves.filter(isMeant).map(({ id }) => id));
  const applied = moved(({ to }) => to === 'APPLIED');
  const removed = moved(({ from, to }) => from === 'REMOVING' && to !== from);
  const failed = moved(isRefusal);
  const opened = new Set<string>();
  /** rules whose holders' access has ended by an event of the rule, or never began */
  const ended = new Set<string>();
  /** absent rules that may have been present before, without such an event */
  const possiblyPresent = new Set<string>();
  const events: RuleEvent[] = [];
  for (const now of settled) {
    const { ruleId } = now;
    const before = rows.ruleBefore(ruleId);
    const after = rows.rule(ruleId)!;
    const remark = remarks.get(ruleId);
    const wasPresent = before.presentSince !== null;
    const event = (kind: RuleEvent['kind'], more: Partial<RuleEvent> = {}): RuleEvent => ({
      kind,
      ruleId,
      cause: after.cause ?? now.unwanted,
      message: null,
      resourceIpIds: null,
      ...more,
    });
    const isChanged = remark?.changedTo !== undefined && now.unwanted === null && !before.isMissing;
    if (isChanged)
      events.push(event('CHANGED', { cause: 'CHANGED_OUTSIDE', message: changedMessage(remark.changedTo) }));
    if (now.observedPresent && !after.isUnmanaged && (before.isMissing || !wasPresent)) {
      const own = holdersOf(holders, ruleId, applied);
      opened.add(ruleId);
      events.push(
        before.isMissing || isChanged
          ? event('RESTORED', { cause: 'DRIFT_REPAIRED' })
          : event('OPENED', {
              cause: now.addCause,
              resourceIpIds: own.length > 0 ? own : null,
            }),
      );
    }
    if ((now.isUnmarked || remark?.unmarked) && !before.isUnmarked)
      events.push(
        event('UNMARKED', { message: 'Our mark was removed from it; its recorded id says that it is ours' }),
      );
    if (remark?.refusal !== undefined && remark.refusal !== before.lastError)
      events.push(event('REMOVAL_REFUSED', { message: remark.refusal }));
    if (now.state !== 'absent') continue;
    const mayHaveBeenPresent = before.possibleSince !== null || wasPresent;
    if (mayHaveBeenPresent && now.unwanted !== null)
      events.push({
        ...event('CLOSED', { message: remark?.note ?? null }),
        ...endOf(remark, before.isUnmanaged),
      });
    else if (wasPresent) events.push(event('MISSING', { cause: 'CHANGED_OUTSIDE' }));
    if (mayHaveBeenPresent && now.unwanted === null && !wasPresent) possiblyPresent.add(ruleId);
    else ended.add(ruleId);
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
  perHolder('RELEASED', removed, (ruleId) => !ended.has(ruleId));
  perHolder('ADD_REFUSED', failed, (ruleId) => state.get(ruleId) !== 'present');
  const left = [
    ...supersededHolders(affected, failed),
    ...holders.filter(({ ruleId, status }) => status === 'FAILED' && possiblyPresent.has(ruleId)),
  ];
  for (const { ruleId, resourceIpId, isDetached } of new Set(left)) {
    if (ended.has(ruleId)) continue;
    events.push({
      kind: 'RELEASED',
      ruleId,
      cause: isDetached ? null : 'ADD_REFUSED',
      message: null,
      resourceIpIds: [resourceIpId],
    });
  }
  return { events, possiblyPresent };
}

/** The event of an absent rule whose end was not simply observed. */
function endOf(remark: Remark | undefined, wasUnmanaged: boolean): Partial<RuleEvent> {
  if (remark?.givenUp) {
    const { cause, reason } = remark.givenUp;
    return { kind: 'ABANDONED', cause, message: reason };
  }
  if (wasUnmanaged && remark?.isUnmanagedPresent) return { kind: 'RELEASED', message: UNMANAGED_STAYS };
  return {};
}

/** Message for users about a desired rule that was changed. @param changedTo what it does now, as a phrase */
export const changedMessage = (changedTo: string): string =>
  `Another program changed it: ${changedTo}. It is written again`;

const holdersOf = (holders: readonly AffectedHolder[], ruleId: string, ips: ReadonlySet<string>): string[] =>
  holders
    .filter((holder) => holder.ruleId === ruleId && ips.has(holder.resourceIpId))
    .map(({ resourceIpId }) => resourceIpId);

/**
 * Holders that moved away or were refused, of rules with other live holders: they need not wait for a removal. A ResourceIp
 * that is being removed keeps its holder until a settlement decides its status too: one without holders is never read again.
 * @param failed ResourceIps that fail in this settlement
 */
export function supersededHolders(
  { ips, holders, rules }: Affected,
  failed: ReadonlySet<string>,
): readonly AffectedHolder[] {
  const hasLeft = ({ isDetached, status, resourceIpId }: AffectedHolder): boolean =>
    isDetached || status === 'FAILED' || failed.has(resourceIpId);
  const ruleOf = new Map(rules.map((rule) => [rule.ruleId, rule]));
  const kept = new Set(
    holders
      .filter(
        (holder) => holder.isLive && !hasLeft(holder) && canHoldRule(holder, ruleOf.get(holder.ruleId)!),
      )
      .map(({ ruleId }) => ruleId),
  );
  const decided = new Set(ips.map(({ id }) => id));
  return holders.filter(
    (holder) =>
      hasLeft(holder) &&
      kept.has(holder.ruleId) &&
      (holder.status !== 'REMOVING' || decided.has(holder.resourceIpId)),
  );
}

/** An addition that was given up, not a removal. */
export const isRefusal = ({ from, to }: IpMove): boolean => from !== 'REMOVING' && to === 'FAILED';

/** Remarks on rules that are settled without a read. */
export function remarksOnUnread(rules: readonly DueRuleRow[]): Map<string, Remark> {
  const remarks = new Map<string, Remark>();
  for (const rule of rules.filter(({ desired }) => !desired)) {
    const { ruleId, abandoned, isUnmanaged, state, providerRuleId, key } = rule;
    if (abandoned !== null) remarks.set(ruleId, { givenUp: { cause: 'ABANDONED', reason: abandoned } });
    else if (isUnmanaged && state === 'present') {
      const stillAllowedBy = providerRuleId === null ? null : ruleName({ providerRuleId, key });
      remarks.set(ruleId, { isUnmanagedPresent: true, stillAllowedBy });
    }
  }
  return remarks;
}

/** An observation of a rule to record. */
export interface RuleEvent {
  readonly kind: RuleEventKind;
  readonly ruleId: string;
  readonly cause: RuleCause | null;
  readonly message: string | null;
  /** the ResourceIps it concerns; null: all holders of the rule */
  readonly resourceIpIds: readonly string[] | null;
}

/** Where observations come from, with the owner of the credential that made them. */
export type OwnedOrigin = Origin & { readonly organizationId: string | null };

/**
 * One row per holder of each event's rule, with its access interval as far as observed: as the rows are now.
 * @param endedAt end of the read that the events are based on
 */
export function ledgerRows(
  events: readonly RuleEvent[],
  rows: TargetRows,
  endedAt: Instant,
  origin: OwnedOrigin,
): LedgerRow[] {
  const known = events.filter(({ ruleId }) => rows.rule(ruleId) !== undefined);
  return known.flatMap((event) => {
    const holders = rows
      .holdersOf(event.ruleId)
      .filter(({ resourceIpId }) => event.resourceIpIds?.includes(resourceIpId) ?? true);
    return (holders.length === 0 ? [null] : holders).map((holder) =>
      ledgerRow(event, holder, rows, endedAt, origin),
    );
  });
}

function ledgerRow(
  { kind, ruleId, cause, message }: RuleEvent,
  holder: Holder | null,
  rows: TargetRows,
  endedAt: Instant,
  { workerId, passId, credentialId, organizationId: owner }: OwnedOrigin,
): LedgerRow {
  const rule = rows.rule(ruleId)!;
  const { now, readAt } = rows.loaded;
  const address = holder && rows.address(holder.resourceIpId);
  const organizationId = address?.organizationId ?? null;
  // a released holder's access goes on for others, and is observed until now
  const until = kind === 'RELEASED' ? readAt : endedAt;
  return {
    ...intervalOf(rule, kind, address?.createdAt ?? null, { now, comparedAt: rule.comparedAt }, until),
    kind,
    at: new Date(now),
    ruleId,
    targetId: rule.targetId,
    provider: rule.provider,
    target: rule.identifier,
    address: rule.address,
    protocol: rule.protocol,
    ports: rule.ports,
    providerRuleId: rule.providerRuleId,
    cause: causeFor(kind, holder) ?? cause,
    message,
    holderKind: address === null ? 'ORPHAN' : address.sessionId === null ? 'STATIC_RULE' : 'SESSION',
    organizationId,
    resourceId: address?.resourceId ?? null,
    resourceName: address?.resourceName ?? null,
    sessionId: address?.sessionId ?? null,
    staticIpRuleId: address?.staticIpRuleId ?? null,
    userId: address?.session?.userId ?? null,
    userEmail: address?.session?.userEmail ?? null,
    credentialId: organizationId === null || organizationId === owner ? credentialId : null,
    workerId,
    passId,
  };
}

/** Why this holder has or had the access; null: the event has its own cause. */
function causeFor(kind: RuleEventKind, holder: Holder | null): RuleCause | null {
  if (kind === 'CLOSED' || kind === 'RELEASED') return holder?.releaseCause ?? null;
  if (kind === 'OPENED' || kind === 'HELD' || kind === 'ADD_REFUSED') return holder?.cause ?? null;
  return null;
}
