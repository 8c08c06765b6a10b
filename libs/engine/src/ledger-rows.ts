import type { Holder, LedgerRow, Origin } from '#engine-store';
import { intervalOf, type Instant, type RuleCause, type RuleEventKind } from '#rules';
import type { TargetRows } from './target-rows';

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
