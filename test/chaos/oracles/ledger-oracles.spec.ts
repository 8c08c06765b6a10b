import type { OrganizationId } from '#rules';
import { reportDeadline } from './bounds';
import type { AuditedAction } from './evidence';
import { cloudRule, EvidenceBuilder, interval, OTHER_ORGANIZATION } from './evidence-builder';
import { judgeEvidence } from './oracles';
import { atSecond, LATER, violatedOracles } from './violated-oracles';

describe('The oracles of the ledger', () => {
  it('O12 to O14: are skipped without a ledger', () => {
    const open = EvidenceBuilder.stopped(500).resource(0, 'res').health(200, 'RECONCILE_OK');
    open.more = { ledger: null };
    expect(violatedOracles(open.at(LATER))).toEqual(['O1']);
  });

  describe('O12, an unwanted rule is reported', () => {
    /** Present until 500, unwanted from 10. */
    const refused = (cloudOnly = true): EvidenceBuilder => {
      const evidence = EvidenceBuilder.stopped(500).resource(0, 'res').withLedger();
      evidence.more = { faults: [{ name: 'refused', from: atSecond(10), to: atSecond(499), cloudOnly }] };
      return evidence;
    };
    const overdue = (at: number, of: Partial<AuditedAction> = {}): EvidenceBuilder =>
      refused().record(at, 'RULE_REVOCATION_OVERDUE', {
        result: 'FAILURE',
        details: { ipAddress: '203.0.113.1', sessionId: 's' },
        ...of,
      });

    it('finds an unreported rule, and accepts a record within a minute', () => {
      expect(judgeEvidence(refused().at(LATER))).toEqual([
        expect.stringMatching(/^O12 .*203\.0\.113\.1 tcp 22 .*organization-1 was not notified/),
      ]);
      expect(violatedOracles(overdue(66).at(LATER))).toEqual([]);
    });

    it('finds a record that is late, too early, of another organization or of another address', () => {
      expect(violatedOracles(overdue(400).at(LATER))).toEqual(['O12']);
      expect(violatedOracles(overdue(5).at(LATER))).toEqual(['O12']);
      const elsewhere = overdue(66, { organizationId: OTHER_ORGANIZATION, resourceId: null });
      expect(violatedOracles(elsewhere.at(LATER))).toEqual(['O12']);
      expect(violatedOracles(overdue(66, { details: { ipAddress: '203.0.113.11' } }).at(LATER))).toEqual([
        'O12',
      ]);
    });

    it('finds a rule that was detached from its holder when the resource moved', () => {
      const moved = new EvidenceBuilder()
        .resource(0, 'res')
        .session(0, 's', 'PENDING')
        .ip(0, 'ip', 'PENDING')
        .rule(0, 'r', 'absent')
        .holder(0, 'r', 'ip')
        .cloud(0.5, 'opened')
        .ip(1, 'ip', 'APPLIED')
        .released(10, 'r', 'ip')
        .withLedger();
      moved.more = {
        atRest: false,
        faults: [{ name: 'refused', from: atSecond(10), to: null, cloudOnly: true }],
      };
      expect(violatedOracles(moved.at(200))).toContain('O12');
      moved.record(66, 'RULE_REVOCATION_OVERDUE', { details: { ipAddress: '203.0.113.1' } });
      expect(violatedOracles(moved.at(200))).not.toContain('O12');
    });

    it('finds an orphan that was not reported to every organization with a write-verified resource', () => {
      const orphan = (): EvidenceBuilder => {
        const evidence = new EvidenceBuilder()
          .resource(0, 'res')
          .resource(0, 'theirs', { organizationId: OTHER_ORGANIZATION })
          .resource(0, 'unverified', {
            organizationId: 'organization-3' as OrganizationId,
            writeVerified: false,
          })
          .cloud(1, 'opened')
          .event(20, 'FOUND', { holderKind: 'ORPHAN', cause: 'ORPHAN' })
          .record(70, 'RULE_REVOCATION_OVERDUE');
        evidence.more = {
          atRest: false,
          faults: [{ name: 'refused', from: atSecond(0), to: null, cloudOnly: true }],
        };
        return evidence;
      };
      const found = judgeEvidence(orphan().at(LATER)).filter((message) => message.startsWith('O12'));
      expect(found).toEqual([expect.stringContaining('organization-2 was not notified')]);
      const reported = orphan().record(70, 'RULE_REVOCATION_OVERDUE', {
        organizationId: OTHER_ORGANIZATION,
        resourceId: 'theirs',
      });
      expect(violatedOracles(reported.at(LATER))).not.toContain('O12');
    });

    it('allows at most a minute after the database or the workers are back', () => {
      const [from, to] = [atSecond(10), atSecond(300)];
      expect(reportDeadline(atSecond(12), [{ name: 'killed', from, to }], 1)).toBe(atSecond(360));
      expect(reportDeadline(atSecond(12), [{ name: 'refused', from, to, cloudOnly: true }], 1)).toBe(
        atSecond(75),
      );
      expect(violatedOracles(refused(false).at(LATER))).toEqual([]);
    });
  });

  describe('O13, nothing is reported removed while it is present', () => {
    const closed = (at: number, ...edges: (number | null)[]): EvidenceBuilder =>
      EvidenceBuilder.stopped(14).event(at, 'CLOSED', {
        cause: 'SESSION_STOPPED',
        ...interval(...edges),
      });

    it('finds CLOSED in the ledger before the rule was closed', () => {
      expect(violatedOracles(closed(14.2, 0.4, 0.6, 13.9, 14.1).at(LATER))).toEqual([]);
      expect(violatedOracles(closed(12, 0.4, 0.6, 10, 11.9).at(LATER))).toEqual(['O13']);
      expect(violatedOracles(closed(12, null, null, null, null).at(LATER))).toEqual(['O13']);
      const givenUp = EvidenceBuilder.stopped(14).event(12, 'ABANDONED', { cause: 'TARGET_GONE' });
      expect(violatedOracles(givenUp.at(LATER))).toEqual([]);
    });

    it('finds REMOVED of a ResourceIp while the rule is present without another holder', () => {
      const closedLate = EvidenceBuilder.stopped(12.4).withLedger();
      const evidence = closedLate.at(LATER);
      const early = evidence.moves.map((move) =>
        move.kind === 'resource_ip' && move.now === 'REMOVED' ? { ...move, at: atSecond(11) } : move,
      );
      expect(judgeEvidence({ ...evidence, moves: early }).join()).toMatch(/O13 .*shown as REMOVED/);
      expect(violatedOracles(evidence)).toEqual([]);
    });

    const orphan = (): EvidenceBuilder => {
      const evidence = new EvidenceBuilder().resource(0, 'res').cloud(1, 'opened');
      evidence.more = { atRest: false, faults: [{ name: 'refused', from: atSecond(0), to: null }] };
      return evidence.withLedger();
    };

    it('finds RULE_ORPHAN_REMOVED while the orphan is present', () => {
      const claimed = orphan().record(20, 'RULE_ORPHAN_REMOVED');
      expect(violatedOracles(claimed.at(30))).toEqual(['O13']);
      const other = orphan().record(20, 'RULE_ORPHAN_REMOVED', {
        details: { rules: ['203.0.113.1/32 tcp 443'] },
      });
      expect(violatedOracles(other.at(30))).toEqual([]);
      expect(violatedOracles(orphan().cloud(19, 'closed').record(20, 'RULE_ORPHAN_REMOVED').at(30))).toEqual(
        [],
      );
    });

    it('finds any record or health event that says "removed", and accepts "removal scheduled"', () => {
      const says = (errorMessage: string): EvidenceBuilder =>
        orphan().record(20, 'RULE_STALE', { errorMessage, details: { ipAddress: '203.0.113.1' } });
      expect(violatedOracles(says('203.0.113.1 was removed').at(30))).toEqual(['O13']);
      expect(violatedOracles(says('203.0.113.1: removal scheduled').at(30))).toEqual([]);
      expect(violatedOracles(says('203.0.113.1 could not be removed').at(30))).toEqual([]);
      const health = (message: string): EvidenceBuilder => orphan().health(20, 'RECONCILE_FAILED', message);
      expect(violatedOracles(health('1 orphan removed').at(30))).toEqual(['O13']);
      expect(violatedOracles(health('1 orphan: removal scheduled').at(30))).toEqual([]);
      expect(violatedOracles(health('1 orphan removed').cloud(19, 'closed').at(30))).toEqual([]);
    });

    it('finds RECONCILE_OK after an unwanted rule was present for a whole interval', () => {
      expect(violatedOracles(orphan().health(40, 'RECONCILE_OK').at(50))).toEqual([]);
      expect(violatedOracles(orphan().health(50, 'RECONCILE_OK').at(55))).toEqual(['O13']);
    });
  });

  describe('O14, the access report', () => {
    const session = (): EvidenceBuilder => EvidenceBuilder.stopped().resource(0, 'res');
    const item = interval(0.4, 0.6, 10.9, 11.1);

    it('finds a certain item that was not present', () => {
      const early = session().report(0.45, interval(0.4, 0.42, 10.9, 11.1));
      expect(judgeEvidence(early.at(LATER))).toEqual([expect.stringMatching(/^O14 .*is certain at/)]);
      const late = session().report(11.5, interval(0.4, 0.6, 12, null));
      expect(violatedOracles(late.at(LATER))).toEqual(['O14']);
      const elsewhere = session().report(5, item, { ...item, ports: '22,443' });
      expect(violatedOracles(elsewhere.at(LATER))).toEqual(['O14']);
    });

    it('finds a rule that was present and is missing or not possible in the report', () => {
      expect(judgeEvidence(session().report(5).at(LATER))).toEqual([
        expect.stringMatching(/^O14 .*is not in the report/),
      ]);
      expect(
        violatedOracles(
          session()
            .report(10.95, interval(0.4, 0.6, 10.5, 10.9))
            .at(LATER),
        ),
      ).toEqual(['O14']);
      expect(violatedOracles(session().report(12).at(LATER))).toEqual([]);
    });

    it('finds a missing unmanaged rule, if it was present at a comparison', () => {
      const unmanaged = cloudRule({ ours: false, providerRuleId: 'sgr-9', address: '192.0.2.1' });
      const seen = (comparedAt: number): string[] => {
        const evidence = session().cloud(2, 'opened', unmanaged).report(5, item);
        return violatedOracles(
          evidence.withLedger({ comparedAt: new Map([['target-1', atSecond(comparedAt)]]) }).at(LATER),
        );
      };
      expect(seen(1)).toEqual([]);
      expect(seen(45)).toEqual(['O14']);
    });
  });
});
