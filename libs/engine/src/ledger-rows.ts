import { randomUUID } from 'node:crypto';
import { DriverRegistry } from '#drivers';
import type { Holder, LedgerRow, Origin } from '#engine-store';
import {
  endsAccess,
  grouped,
  intervalOf,
  ruleEvent,
  type Instant,
  type OwnedAccess,
  type RuleCause,
  type RuleEvent,
  type RuleEventKind,
  type TargetRule,
} from '#rules';
import { isRefusal, type IpMove } from './ip-moves';
import type { Decisions } from './settlement';
import { supersededHolders, type Affected, type TargetRows } from './target-rows';

/** The events of the rules, and those of single holders that follow from the moves of their addresses. */
export function eventsOf(
  rows: TargetRows,
  affected: Affected,
  moves: readonly IpMove[],
  decisions: Decisions,
): { events: RuleEvent[]; possiblyPresent: ReadonlySet<string> } {
  const { holders, rules } = affected;
  const moved = (isMeant: (move: IpMove) => boolean): Map<string, IpMove> =>
    new Map(moves.filter(isMeant).map((move) => [move.id, move]));
  const applied = moved(({ to }) => to === 'APPLIED');
  const failed = moved(isRefusal);
  const opened = new Set<string>();
  /** rules whose holders' access has ended by an event of the rule, or never began */
  const ended = new Set<string>();
  /** absent rules that may have been present before, without such an event */
  const possiblyPresent = new Set<string>();
  const events: RuleEvent[] = [];
  for (const [ruleId, decided] of decisions) {
    for (const event of decided.events) {
      if (event.kind === 'OPENED' || event.kind === 'RESTORED') opened.add(ruleId);
      events.push(event.kind === 'OPENED' ? { ...event, ...forApplied(affected, ruleId, applied) } : event);
    }
    if (!decided.isAbsent) continue;
    const { possibleSince, presentSince } = rows.ruleBefore(ruleId);
    const isDoubtful = possibleSince !== null && presentSince === null;
    const isWanted = decided.rule.unwantedSince === null;
    if (isWanted && isDoubtful && !decided.events.some(({ kind }) => endsAccess(kind)))
      possiblyPresent.add(ruleId);
    else ended.add(ruleId);
  }
  const perHolder = (
    kind: RuleEventKind,
    ips: ReadonlyMap<string, IpMove>,
    concerns: (ruleId: string) => boolean,
  ): void => {
    const own = holders.filter((holder) => ips.has(holder.resourceIpId) && !holder.isDetached);
    for (const [ruleId, of] of grouped(own, (holder) => holder.ruleId)) {
      if (!concerns(ruleId)) continue;
      const message = kind === 'ADD_REFUSED' ? ips.get(of[0]!.resourceIpId)!.errorMessage : null;
      const resourceIpIds = of.map(({ resourceIpId }) => resourceIpId);
      events.push(ruleEvent(kind, ruleId, { message, resourceIpIds }));
    }
  };
  const stateOf = new Map(rules.map(({ id, state }) => [id, state]));
  const removed = moved(({ from, to }) => from === 'REMOVING' && to !== from);
  perHolder('HELD', applied, (ruleId) => !opened.has(ruleId));
  perHolder('RELEASED', removed, (ruleId) => !ended.has(ruleId));
  perHolder('ADD_REFUSED', failed, (ruleId) => stateOf.get(ruleId) !== 'present');
  const left = [
    ...supersededHolders(affected, new Set(failed.keys())),
    ...holders.filter(({ ruleId, status }) => status === 'FAILED' && possiblyPresent.has(ruleId)),
  ];
  for (const { ruleId, resourceIpId, isDetached } of new Set(left)) {
    const cause = isDetached ? null : 'ADD_REFUSED';
    if (!ended.has(ruleId))
      events.push(ruleEvent('RELEASED', ruleId, { cause, resourceIpIds: [resourceIpId] }));
  }
  return { events, possiblyPresent };
}

/** An event for those holders that are let in by it, if there are any. */
function forApplied(
  { holders }: Affected,
  ruleId: string,
  applied: ReadonlyMap<string, IpMove>,
): Pick<RuleEvent, 'resourceIpIds'> {
  const own = holders.filter((holder) => holder.ruleId === ruleId && applied.has(holder.resourceIpId));
  return { resourceIpIds: own.length > 0 ? own.map(({ resourceIpId }) => resourceIpId) : null };
}

/** Where observations come from, with the owner of the credential that made them. */
export type OwnedOrigin = Origin & { readonly organizationId: string | null };

/** Of one pass or comparison. @param access that it goes through; null or left out: none */
export const originOf = (workerId: string, access?: OwnedAccess | null): OwnedOrigin => ({
  workerId,
  passId: randomUUID(),
  credentialId: access?.credentialId ?? null,
  organizationId: access?.organizationId ?? null,
});

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

/** How long the provider may still let an address in whose rule is gone. */
function lingersMs({ provider, resourceType }: TargetRule): number {
  const facts = DriverRegistry.facts(provider).resourceTypes[resourceType];
  return (facts?.effect.atMostSeconds ?? 0) * 1000;
}

function ledgerRow(
  { kind, ruleId, cause, message, before }: RuleEvent,
  holder: Holder | null,
  rows: TargetRows,
  endedAt: Instant,
  { workerId, passId, credentialId, organizationId: owner }: OwnedOrigin,
): LedgerRow {
  const rule = rows.rule(ruleId)!;
  const known = before ?? rule;
  const { now, readAt } = rows.loaded;
  const address = holder && rows.address(holder.resourceIpId);
  const organizationId = address?.organizationId ?? null;
  // a released holder's access goes on for others, and is observed until now
  const until = kind === 'RELEASED' ? readAt : endedAt;
  const times = { now, comparedAt: rule.comparedAt };
  const interval = intervalOf(known, kind, address?.createdAt ?? null, times, until);
  const { possibleUntil } = interval;
  return {
    ...interval,
    possibleUntil:
      possibleUntil === null || kind === 'RELEASED' ? possibleUntil : possibleUntil + lingersMs(rule),
    kind,
    at: new Date(now),
    ruleId,
    targetId: rule.targetId,
    provider: rule.provider,
    target: rule.identifier,
    address: rule.address,
    protocol: rule.protocol,
    ports: rule.ports,
    providerRuleId: known.providerRuleId,
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
