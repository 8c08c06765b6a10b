import type { OrganizationId, ResourceIpStatus, RuleState, SessionStatus } from '#rules';
import type { Call, CloudEvent, CloudRule, Evidence, Move } from './evidence';

export const BEGUN_AT = 1_800_000_000_000;
export const GROUP = 'sg-1';
const TARGET_ID = 'target-1';
export const ORGANIZATION = 'organization-1' as OrganizationId;
export const STRANGER = 'organization-2' as OrganizationId;

type SessionFacts = Partial<{ expiresAt: number; endedReason: string; organizationId: OrganizationId }>;

/** A history made up for a test. Times are seconds since the watch began. */
export class MadeUpEvidence {
  private moves: Move[] = [];
  private readonly lastState = new Map<string, string>();
  readonly timeline: CloudEvent[] = [];
  readonly calls: Call[] = [];
  more: Partial<Evidence> = {};

  /** A session moves. The first time it is made. */
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
    const place = { kind: 'rule', ruleId: id, targetId: TARGET_ID, key, attempts, credentialId };
    return this.move(at, `rule ${id}`, now, place);
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

  /** A session that is applied after 1 s and closed at `closedAt`; stopped after 10 s. */
  static stopped(closedAt = 11): MadeUpEvidence {
    return new MadeUpEvidence()
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

  /** Leaves moves out. */
  without(kind: Move['kind'], ...states: string[]): this {
    this.moves = this.moves.filter((move) => move.kind !== kind || !states.includes(move.now ?? ''));
    return this;
  }

  /** @param at when it is judged, seconds since the watch began */
  at(at: number): Evidence {
    const standing = new Map<string, CloudRule>();
    for (const rule of this.more.standingAtBegin ?? []) standing.set(rule.providerRuleId, rule);
    for (const { event, at: _, ...rule } of this.timeline) {
      if (event === 'opened') standing.set(rule.providerRuleId, rule);
      else standing.delete(rule.providerRuleId);
    }
    return {
      begunAt: BEGUN_AT,
      at: BEGUN_AT + at * 1000,
      atRest: true,
      standingAtBegin: [],
      standing: [...standing.values()],
      timeline: this.timeline,
      calls: this.calls,
      moves: this.moves,
      targets: [{ id: TARGET_ID, provider: 'AWS', identifier: GROUP }],
      owners: new Map([
        ['res', ORGANIZATION],
        ['own-credential', ORGANIZATION],
        ['strange-credential', STRANGER],
      ]),
      audit: ['STARTED', 'ACTIVATED', 'STOPPED', 'CANCELLED'].map((deed) => ({
        organizationId: ORGANIZATION,
        eventType: `SESSION_${deed}`,
        resourceType: 'SESSION',
        resourceId: 's',
        result: 'SUCCESS',
      })),
      brokenChains: [],
      storedKeys: [],
      keyedAnswers: [],
      keyedAddresses: [],
      acknowledged: [],
      faults: [],
      outsideHands: new Set(),
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

/** A rule as the cloud shows it: ours, port 22 for 203.0.113.1, unless told otherwise. */
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
