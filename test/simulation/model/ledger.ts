import type { LedgerRow, LedgerStore, Origin, RuleEvent, UnmanagedEvent } from '#engine-store';
import { INTERVAL_ENDS, parseRuleKey, portsText, type RuleEventKind, ruleLife } from '#rules';
import type { Modelled } from './modelled';
import type { EventRow, RuleHolderRow, RuleRow, Tables, TargetRow } from './tables';

const latest = (...of: readonly (number | null)[]): number | null =>
  of.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);

const ends = (kind: RuleEventKind): boolean => INTERVAL_ENDS.some((end) => end === kind);

/** `LedgerStore` in memory. */
export class ModelLedger implements Modelled<LedgerStore> {
  constructor(private readonly tables: Tables) {}

  record(events: readonly RuleEvent[], endedAgoMs: number, origin: Origin): LedgerRow[] {
    return events.flatMap((event) => {
      const rule = this.tables.rules.get(event.ruleId);
      if (!rule) return [];
      const holders = this.tables
        .holderRows(rule)
        .filter(({ resourceIpId }) => event.resourceIpIds?.includes(resourceIpId) ?? true);
      return [...holders, ...(holders.length === 0 ? [null] : [])].map((holder) =>
        this.keep(this.row(event, rule, holder, endedAgoMs, origin)),
      );
    });
  }

  private row(
    { kind, cause, message }: RuleEvent,
    rule: RuleRow,
    holder: RuleHolderRow | null,
    endedAgoMs: number,
    origin: Origin,
  ): EventRow {
    const target = this.tables.targets.get(rule.targetId)!;
    const ip = holder && this.tables.resourceIps.get(holder.resourceIpId)!;
    const now = this.tables.now();
    const certainFrom = latest(rule.presentSince, ip?.createdAt ?? null);
    const certainUntil = ruleLife.lastCertain(rule, { now, comparedAt: target.comparedAt });
    const isOver = ends(kind);
    const isCertain =
      rule.presentSince !== null && (!isOver || (certainUntil !== null && certainUntil >= certainFrom!));
    const released = kind === 'CLOSED' || kind === 'RELEASED' ? holder?.releaseCause : null;
    const added = kind === 'OPENED' || kind === 'HELD' || kind === 'ADD_REFUSED' ? holder?.cause : null;
    const session = ip?.sessionId ? this.tables.sessions.get(ip.sessionId) : undefined;
    const resource = ip && this.tables.resources.get(ip.resourceId);
    const holderKind = ip?.sessionId ? 'SESSION' : 'STATIC_RULE';
    return {
      ...this.base(target, rule.spec, origin),
      kind,
      ruleId: rule.id,
      providerRuleId: rule.providerRuleId,
      cause: released ?? added ?? cause,
      message,
      possibleFrom: latest(rule.possibleSince, ip?.createdAt ?? null),
      certainFrom: isCertain ? certainFrom : null,
      certainUntil: isCertain && isOver ? certainUntil : null,
      possibleUntil: isOver && kind !== 'ABANDONED' ? now - (kind === 'RELEASED' ? 0 : endedAgoMs) : null,
      holderKind: ip ? holderKind : 'ORPHAN',
      organizationId: ip?.organizationId ?? null,
      resourceId: ip?.resourceId ?? null,
      resourceName: resource?.name ?? null,
      sessionId: ip?.sessionId ?? null,
      staticIpRuleId: ip?.staticIpRuleId ?? null,
      userId: session?.userId ?? null,
      userEmail: session?.userId ?? null,
      credentialId: this.mayBeNamed(origin, ip?.organizationId ?? null) ? origin.credentialId : null,
    };
  }

  /** A credential is shown to its own organization only. */
  private mayBeNamed({ credentialId }: Origin, organizationId: string | null): boolean {
    if (organizationId === null) return true;
    return this.tables.credentials.get(credentialId ?? '')?.organizationId === organizationId;
  }

  private base(
    target: TargetRow,
    spec: RuleRow['spec'],
    { workerId, passId }: Origin,
  ): Pick<
    EventRow,
    'at' | 'targetId' | 'provider' | 'target' | 'address' | 'protocol' | 'ports' | 'workerId' | 'passId'
  > {
    return {
      at: this.tables.now(),
      targetId: target.id,
      provider: target.provider,
      target: target.identifier,
      address: spec.address,
      protocol: spec.protocol,
      ports: portsText(spec.ports),
      workerId,
      passId,
    };
  }

  recordUnmanaged(
    targetId: string,
    events: readonly UnmanagedEvent[],
    endedAgoMs: number,
    origin: Origin,
  ): LedgerRow[] {
    const now = this.tables.now();
    const target = this.tables.targets.get(targetId)!;
    return events.flatMap(({ kind, key, providerRuleId }) =>
      this.tables.unmanaged
        .filter(
          (one) => one.targetId === targetId && one.key === key && one.providerRuleId === providerRuleId,
        )
        .map(({ possibleSince, presentSince }) =>
          this.keep({
            ...this.base(target, parseRuleKey(key), origin),
            kind,
            ruleId: null,
            providerRuleId,
            cause: null,
            message: null,
            possibleFrom: possibleSince,
            certainFrom: presentSince,
            certainUntil: kind === 'CLOSED' ? latest(target.comparedAt, presentSince) : null,
            possibleUntil: kind === 'CLOSED' ? now - endedAgoMs : null,
            holderKind: 'UNMANAGED',
            organizationId: null,
            resourceId: null,
            resourceName: null,
            sessionId: null,
            staticIpRuleId: null,
            userId: null,
            userEmail: null,
            credentialId: origin.credentialId,
          }),
        ),
    );
  }

  private keep(row: EventRow): LedgerRow {
    this.tables.record(row);
    return { ...row, at: new Date(row.at) };
  }
}
