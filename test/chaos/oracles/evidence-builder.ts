import type { OrganizationId, ResourceIpStatus, RuleState, SessionStatus } from '#rules';
import type {
  AccessItem,
  AuditedAction,
  Call,
  CloudEvent,
  CloudRule,
  Evidence,
  Interval,
  LedgerEvent,
  LedgerEvidence,
  Move,
} from './evidence';

export const BEGUN_AT = 1_800_000_000_000;
export const GROUP = 'sg-1';
const TARGET_ID = 'target-1';
export const ORGANIZATION = 'organization-1' as OrganizationId;
export const OTHER_ORGANIZATION = 'organization-2' as OrganizationId;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
const moment = (seconds: number): number => BEGUN_AT + seconds * 1000;

type SessionFacts = Partial<{ expiresAt: number; endedReason: string; organizationId: OrganizationId }>;

/** Builds evidence for a test. Times are seconds since the watch began. */
export class EvidenceBuilder {
  private moves: Move[] = [];
  private readonly lastState = new Map<string, string>();
  readonly timeline: CloudEvent[] = [];
  readonly calls: Call[] = [];
  private readonly records: AuditedAction[] = [];
  more: Partial<Evidence> = {};
  /** null until an event is added: O12 to O14 are skipped */
  private ledger: Mutable<LedgerEvidence> | null = null;

  /** A transition of a session; the first one creates it. */
  session(at: number, id: string, now: SessionStatus, facts: SessionFacts = {}): this {
    const { expiresAt = 3600, endedReason = null, organizationId = ORGANIZATION } = facts;
    return this.move(at, `session ${id}`, now, {
      kind: 'session',
      sessionId: id,
      organizationId,
      expiresAt: BEGUN_AT + expiresAt * 1000,
      endedReason,
      address: '203.0.113.1',
    });
  }

  ip(at: number, id: string, now: ResourceIpStatus, sessionId: string | null = 's'): this {
    const facts = {
      kind: 'resource_ip',
      ipId: id,
      organizationId: ORGANIZATION,
      sessionId,
      resourceId: 'res',
    };
    return this.move(at, `ip ${id}`, now, facts);
  }

  rule(
    at: number,
    id: string,
    now: RuleState,
    facts: { attempts?: number; credentialId?: string } = {},
  ): this {
    const { attempts = 0, credentialId = null } = facts;
    const key = '203.0.113.1/32 tcp 22';
    const row = { kind: 'rule', ruleId: id, targetId: TARGET_ID, key, attempts, credentialId };
    return this.move(at, `rule ${id}`, now, row);
  }

  holder(at: number, ruleId: string, ipId: string): this {
    return this.move(at, `holder ${ruleId} ${ipId}`, 'held', { kind: 'holder', ruleId, ipId });
  }

  cloud(at: number, event: 'opened' | 'closed', of: Partial<CloudRule> = {}): this {
    this.timeline.push({ event, at: BEGUN_AT + at * 1000, ...cloudRule(of) });
    return this;
  }

  call(at: number, operation: string, outcome = 'OK'): this {
    this.calls.push({ at: BEGUN_AT + at * 1000, operation, target: GROUP, outcome });
    return this;
  }

  resource(
    at: number,
    id: string,
    facts: { writeVerified?: boolean; organizationId?: OrganizationId } = {},
  ): this {
    const { writeVerified = true, organizationId = ORGANIZATION } = facts;
    const row = { kind: 'resource', resourceId: id, organizationId, targetId: TARGET_ID, writeVerified };
    return this.move(at, `resource ${id}`, 'live', row);
  }

  /** A holder's row stays until its rule is observed absent. */
  released(at: number, ruleId: string, ipId: string): this {
    return this.move(at, `holder ${ruleId} ${ipId}`, 'released', { kind: 'holder', ruleId, ipId });
  }

  /** The product writes a ledger: O12 to O14 are checked. */
  withLedger(more: Partial<LedgerEvidence> = {}): this {
    const none = { events: [], healthEvents: [], reports: [], comparedAt: new Map<string, number>() };
    this.ledger = { ...(this.ledger ?? none), ...more };
    return this;
  }

  /** @param of properties that differ from the default rule */
  event(at: number, kind: LedgerEvent['kind'], of: Partial<LedgerEvent> = {}): this {
    const row: LedgerEvent = {
      ...LEDGER_RULE,
      ...NO_INTERVAL,
      at: moment(at),
      kind,
      providerRuleId: 'sgr-1',
      cause: null,
      organizationId: ORGANIZATION,
      resourceId: 'res',
      sessionId: 's',
      ...of,
    };
    return this.withLedger({ events: [...(this.ledger?.events ?? []), row] });
  }

  health(at: number, eventType: string, message: string | null = null): this {
    const event = { at: moment(at), organizationId: ORGANIZATION, resourceId: 'res', eventType, message };
    return this.withLedger({ healthEvents: [...(this.ledger?.healthEvents ?? []), event] });
  }

  record(at: number, eventType: string, of: Partial<AuditedAction> = {}): this {
    const record: AuditedAction = {
      organizationId: ORGANIZATION,
      eventType,
      resourceType: 'RESOURCE',
      resourceId: 'res',
      result: 'SUCCESS',
      at: moment(at),
      errorMessage: null,
      details: { rules: ['203.0.113.1/32 tcp 22'] },
      ...of,
    };
    this.records.push(record);
    return this;
  }

  /** An access report of the group at a time, in seconds. */
  report(at: number, ...items: Partial<AccessItem>[]): this {
    const report = {
      resourceId: 'res',
      at: moment(at),
      isWhole: true,
      items: items.map((item) => ({ ...LEDGER_RULE, ...NO_INTERVAL, ...item })),
    };
    return this.withLedger({ reports: [...(this.ledger?.reports ?? []), report] });
  }

  /** A session that is applied after 1 s and closed at `closedAt`; stopped after 10 s. */
  static stopped(closedAt = 11): EvidenceBuilder {
    return new EvidenceBuilder()
      .session(0, 's', 'PENDING')
      .ip(0, 'ip', 'PENDING')
      .rule(0, 'r', 'absent')
      .holder(0, 'r', 'ip')
      .call(0.4, 'DescribeSecurityGroupRules')
      .call(0.5, 'AuthorizeSecurityGroupIngress')
      .cloud(0.5, 'opened')
      .call(0.6, 'DescribeSecurityGroupRules')
      .rule(1, 'r', 'present')
      .ip(1, 'ip', 'APPLIED')
      .session(1, 's', 'ACTIVE')
      .session(10, 's', 'EXPIRING', { endedReason: 'MANUAL' })
      .ip(10, 'ip', 'REMOVING')
      .call(closedAt - 0.1, 'DescribeSecurityGroupRules')
      .call(closedAt, 'RevokeSecurityGroupIngress')
      .cloud(closedAt, 'closed')
      .call(closedAt + 0.1, 'DescribeSecurityGroupRules')
      .rule(closedAt + 0.2, 'r', 'absent')
      .ip(closedAt + 0.2, 'ip', 'REMOVED')
      .session(closedAt + 0.2, 's', 'CANCELLED', { endedReason: 'MANUAL' });
  }

  /** Removes moves. */
  without(kind: Move['kind'], ...states: string[]): this {
    this.moves = this.moves.filter((move) => move.kind !== kind || !states.includes(move.now ?? ''));
    return this;
  }

  /** @param at when it was collected, seconds since the watch began */
  at(at: number): Evidence {
    const presentRules = new Map<string, CloudRule>();
    for (const rule of this.more.presentAtStart ?? []) presentRules.set(rule.providerRuleId, rule);
    for (const { event, at: _, ...rule } of this.timeline) {
      if (event === 'opened') presentRules.set(rule.providerRuleId, rule);
      else presentRules.delete(rule.providerRuleId);
    }
    return {
      begunAt: BEGUN_AT,
      at: BEGUN_AT + at * 1000,
      atRest: true,
      presentAtStart: [],
      presentRules: [...presentRules.values()],
      timeline: this.timeline,
      calls: this.calls,
      moves: this.moves,
      targets: [{ id: TARGET_ID, provider: 'AWS', identifier: GROUP }],
      owners: new Map([
        ['res', ORGANIZATION],
        ['own-credential', ORGANIZATION],
        ['foreign-credential', OTHER_ORGANIZATION],
      ]),
      audit: [
        ...['STARTED', 'ACTIVATED', 'STOPPED', 'CANCELLED'].map((action) => ({
          organizationId: ORGANIZATION,
          eventType: `SESSION_${action}`,
          resourceType: 'SESSION',
          resourceId: 's',
          result: 'SUCCESS',
          at: BEGUN_AT,
          errorMessage: null,
          details: {},
        })),
        ...this.records,
      ],
      brokenChains: [],
      storedKeys: [],
      keyedAnswers: [],
      keyedAddresses: [],
      acknowledged: [],
      faults: [],
      outsideChanges: new Set(),
      kills: 0,
      ledger: this.ledger,
      ...this.more,
    };
  }

  private move(at: number, row: string, now: string, facts: object): this {
    const was = this.lastState.get(row) ?? null;
    this.lastState.set(row, now);
    const id = this.moves.length + 1;
    const xact = String(at);
    this.moves.push({
      id,
      at: BEGUN_AT + at * 1000,
      xact,
      seeded: false,
      was,
      now,
      ...facts,
    } as unknown as Move);
    return this;
  }
}

const LEDGER_RULE = {
  provider: 'AWS',
  target: GROUP,
  address: '203.0.113.1/32',
  protocol: 'tcp',
  ports: '22',
  holderKind: 'SESSION',
} as const;

const NO_INTERVAL: Interval = {
  possibleFrom: null,
  certainFrom: null,
  certainUntil: null,
  possibleUntil: null,
};

/** @param edges seconds since the watch began */
export const interval = (...edges: readonly (number | null)[]): Interval => {
  const [possibleFrom, certainFrom, certainUntil, possibleUntil] = edges.map((edge) =>
    edge === null ? null : moment(edge),
  ) as [number | null, number | null, number | null, number | null];
  return { possibleFrom, certainFrom, certainUntil, possibleUntil };
};

/** A rule in the cloud; default: ours, port 22 for 203.0.113.1. */
export function cloudRule(of: Partial<CloudRule> = {}): CloudRule {
  return {
    provider: 'AWS',
    target: GROUP,
    address: '203.0.113.1',
    protocol: 'tcp',
    fromPort: 22,
    toPort: 22,
    ours: true,
    providerRuleId: 'sgr-1',
    ...of,
  };
}
