import type { OrganizationId } from '#rules';
import { deadline, reportDeadline } from './bounds';
import type { AuditedAction, Evidence } from './evidence';
import {
  BEGUN_AT,
  cloudRule,
  GROUP,
  interval,
  MadeUpEvidence,
  ORGANIZATION,
  STRANGER,
} from './made-up-evidence';
import { judgeEvidence } from './oracles';

/** An hour on an idle or a busy machine: later than any bound. */
const LATER = 3000;

/** The oracles that the evidence breaks. */
const broken = (evidence: Evidence): string[] => [
  ...new Set(judgeEvidence(evidence).map((words) => words.split(' ')[0]!)),
];
const second = (seconds: number): number => BEGUN_AT + seconds * 1000;

describe('The oracles', () => {
  it('find nothing in a session that was opened and closed in time', () => {
    expect(judgeEvidence(MadeUpEvidence.stopped().at(LATER))).toEqual([]);
  });

  describe('O1, no leak', () => {
    it('finds a rule that was closed long after its holder stopped', () => {
      expect(judgeEvidence(MadeUpEvidence.stopped(500).at(LATER))).toEqual([
        expect.stringMatching(/^O1 .*was closed 490\.0 s after/),
      ]);
    });

    it('finds a rule that was never closed', () => {
      const open = MadeUpEvidence.stopped();
      open.timeline.splice(1);
      expect(broken(open.at(LATER))).toEqual(expect.arrayContaining(['O1', 'O3', 'O10']));
    });

    it('finds a rule that outlived the end of its time, though nobody moved the session', () => {
      const open = new MadeUpEvidence()
        .session(0, 's', 'PENDING', { expiresAt: 10 })
        .ip(0, 'ip', 'PENDING')
        .rule(0, 'r', 'absent')
        .holder(0, 'r', 'ip')
        .cloud(0.5, 'opened');
      expect(broken(open.at(LATER))).toContain('O1');
    });

    it('finds a rule with our mark that nobody ever held', () => {
      expect(broken(new MadeUpEvidence().cloud(1, 'opened').at(LATER))).toContain('O1');
    });

    it('allows a minute after the end of a fault, and no more', () => {
      const faults = [{ name: 'outage', from: second(9), to: second(400) }];
      const late = (closedAt: number): string[] => {
        const evidence = MadeUpEvidence.stopped(closedAt);
        evidence.more = { faults };
        return broken(evidence.at(LATER));
      };
      expect(late(450)).toEqual([]);
      expect(late(2900)).toEqual(['O1']);
      expect(deadline(second(10), faults, 1)).toBe(second(460));
      expect(deadline(second(10), [], 1)).toBe(second(15));
      expect(deadline(second(461), faults, 1)).toBe(second(466));
    });
  });

  describe('O2, no loss', () => {
    it('finds a session that never left PENDING', () => {
      expect(broken(new MadeUpEvidence().session(0, 's', 'PENDING').at(LATER))).toContain('O2');
    });
    it('finds a session that never ended', () => {
      const stuck = MadeUpEvidence.stopped().without('session', 'CANCELLED');
      expect(broken(stuck.at(LATER))).toContain('O2');
    });
    it('finds a session that was answered and is gone', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { acknowledged: ['s', 'another'] };
      expect(judgeEvidence(evidence.at(LATER))).toEqual([expect.stringContaining('session another')]);
    });
  });

  describe('O3, the exact count', () => {
    it('finds a rule that stood twice', () => {
      const twice = MadeUpEvidence.stopped();
      twice.timeline.splice(
        1,
        0,
        { event: 'opened', at: second(2), ...cloudRule({ providerRuleId: 'sgr-2' }) },
        { event: 'closed', at: second(3), ...cloudRule({ providerRuleId: 'sgr-2' }) },
      );
      expect(judgeEvidence(twice.at(LATER))).toEqual([expect.stringMatching(/^O3 .*stood twice/)]);
    });
    it('finds a database that believes what is not so', () => {
      const wrong = MadeUpEvidence.stopped().rule(20, 'r', 'present');
      expect(judgeEvidence(wrong.at(LATER))).toEqual([
        expect.stringMatching(/^O3 .*is present in the database/),
      ]);
    });
  });

  it('O4, not early: finds a gap while the session was ACTIVE, unless somebody else made it', () => {
    const gap = MadeUpEvidence.stopped();
    gap.timeline.splice(
      1,
      0,
      { event: 'closed', at: second(3), ...cloudRule() },
      { event: 'opened', at: second(5), ...cloudRule() },
    );
    expect(judgeEvidence(gap.at(LATER))).toEqual([expect.stringMatching(/^O4 .*missing for 2\.0 s/)]);
    gap.more = { outsideHands: new Set([`${GROUP} 203.0.113.1`]) };
    expect(judgeEvidence(gap.at(LATER))).toEqual([]);
  });

  it('O4, not early: finds a rule that was closed before the time was over', () => {
    const early = MadeUpEvidence.stopped(9);
    expect(broken(early.at(LATER))).toContain('O4');
  });

  describe('O5, unmanaged rules', () => {
    const unmanaged = cloudRule({ ours: false, providerRuleId: 'sgr-9', address: '192.0.2.1' });
    it('finds one that is gone', () => {
      const evidence = MadeUpEvidence.stopped().cloud(5, 'closed', unmanaged);
      evidence.more = { standingAtBegin: [unmanaged] };
      expect(broken(evidence.at(LATER))).toEqual(['O5']);
    });
    it('finds one that is not what it was', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { standingAtBegin: [unmanaged], standing: [{ ...unmanaged, toPort: 23 }] };
      expect(broken(evidence.at(LATER))).toEqual(['O5']);
    });
  });

  describe('O6, the tenant wall', () => {
    it('finds an address of one organization in a session of another', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { owners: new Map([['res', STRANGER]]) };
      expect(broken(evidence.at(LATER))).toEqual(['O6']);
    });
    it('finds a rule written with a credential of a stranger', () => {
      const written = MadeUpEvidence.stopped().rule(20, 'r', 'absent', {
        credentialId: 'strange-credential',
      });
      expect(broken(written.at(LATER))).toEqual(['O6']);
      const own = MadeUpEvidence.stopped().rule(20, 'r', 'absent', { credentialId: 'own-credential' });
      expect(broken(own.at(LATER))).toEqual([]);
    });
    it('finds a key that answers with a session of a stranger', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { storedKeys: [{ key: 'k', sessionId: 's', organizationId: STRANGER }] };
      expect(broken(evidence.at(LATER))).toEqual(['O6']);
    });
  });

  it('O7, legal states: finds a move that is none', () => {
    const risen = MadeUpEvidence.stopped().ip(20, 'ip', 'APPLIED').ip(21, 'ip', 'REMOVED');
    expect(broken(risen.at(LATER))).toContain('O7');
    const born = new MadeUpEvidence().session(0, 's', 'EXPIRED');
    expect(broken(born.at(LATER))).toContain('O7');
  });

  describe('O8, the audit trail', () => {
    const deeds = MadeUpEvidence.stopped().at(LATER).audit;
    const told = (audit: Evidence['audit']): string[] => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { audit };
      return broken(evidence.at(LATER));
    };
    it('finds a record that is missing, and one too many', () => {
      expect(told(deeds.slice(1))).toEqual(['O8']);
      expect(told([...deeds, deeds[0]!])).toEqual(['O8']);
    });
    it('takes a refusal for none', () => {
      expect(told([...deeds, { ...deeds[2]!, result: 'FAILURE' }])).toEqual([]);
    });
    it('finds a chain that is broken', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { brokenChains: ['the chain of example is broken: position 1'] };
      expect(broken(evidence.at(LATER))).toEqual(['O8']);
    });
  });

  describe('O9, bounded calls', () => {
    it('finds calls without a cause', () => {
      const busy = MadeUpEvidence.stopped();
      for (let call = 0; call < 60; call += 1) busy.call(20 + call, 'DescribeSecurityGroupRules');
      expect(broken(busy.at(100))).toEqual(['O9']);
    });
    it('finds a rule that is tried without a pause', () => {
      const hot = MadeUpEvidence.stopped();
      for (let attempts = 1; attempts <= 40; attempts += 1)
        hot.rule(20 + attempts / 10, 'r', 'absent', { attempts });
      expect(broken(hot.at(30))).toEqual(['O9']);
    });
  });

  describe('O10, an honest API', () => {
    it('finds APPLIED before anybody had looked', () => {
      const hasty = MadeUpEvidence.stopped();
      hasty.calls.splice(0, 3);
      expect(broken(hasty.at(LATER))).toEqual(['O10']);
    });
    it('finds REMOVED before anybody had looked', () => {
      const hasty = MadeUpEvidence.stopped();
      hasty.calls.splice(3);
      hasty.calls.push({
        at: second(11),
        operation: 'RevokeSecurityGroupIngress',
        target: GROUP,
        outcome: 'OK',
      });
      expect(broken(hasty.at(LATER))).toEqual(['O10']);
    });
  });

  it('O10, an honest API: allows REMOVED while another holder has not let go, though its time is over', () => {
    const shared = MadeUpEvidence.stopped(13);
    shared
      .session(2, 't', 'PENDING', { expiresAt: 9 })
      .ip(2, 'other', 'PENDING', 't')
      .holder(2, 'r', 'other')
      .ip(12, 'other', 'REMOVING', 't');
    const early = shared.at(LATER);
    const moves = early.moves.map((move) =>
      move.kind === 'resource_ip' && move.ipId === 'ip' && move.now === 'REMOVED'
        ? { ...move, at: second(10.5) }
        : move,
    );
    const lies = judgeEvidence({ ...early, moves }).filter((words) => words.startsWith('O10'));
    expect(lies).toEqual([]);
    const alone = moves.filter((move) => !(move.kind === 'holder' && move.ipId === 'other'));
    expect(judgeEvidence({ ...early, moves: alone }).join()).toContain('O10');
  });

  describe('O11, one session per key', () => {
    it('finds a key with two answers', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = {
        storedKeys: [{ key: 'k', sessionId: 's', organizationId: ORGANIZATION }],
        keyedAnswers: [{ key: 'k', sessionId: 'other' }],
      };
      expect(broken(evidence.at(LATER))).toEqual(['O11']);
    });
    it('finds two sessions for an address that was asked for under one key', () => {
      const evidence = MadeUpEvidence.stopped().session(0, 't', 'PENDING');
      evidence.more = { keyedAddresses: ['203.0.113.1'] };
      expect(broken(evidence.at(LATER))).toContain('O11');
    });
  });

  it('O12 to O14: are not judged where the product writes no ledger', () => {
    const open = MadeUpEvidence.stopped(500).resource(0, 'res').health(200, 'RECONCILE_OK');
    open.more = { ledger: null };
    expect(broken(open.at(LATER))).toEqual(['O1']);
  });

  describe('O12, an unwanted rule is reported', () => {
    /** Present until 500, unwanted from 10. */
    const refused = (cloudOnly = true): MadeUpEvidence => {
      const evidence = MadeUpEvidence.stopped(500).resource(0, 'res').withLedger();
      evidence.more = { faults: [{ name: 'refused', from: second(10), to: second(499), cloudOnly }] };
      return evidence;
    };
    const overdue = (at: number, of: Partial<AuditedAction> = {}): MadeUpEvidence =>
      refused().record(at, 'RULE_REVOCATION_OVERDUE', {
        result: 'FAILURE',
        details: { ipAddress: '203.0.113.1', sessionId: 's' },
        ...of,
      });

    it('finds one that was not, and accepts a record within a minute', () => {
      expect(judgeEvidence(refused().at(LATER))).toEqual([
        expect.stringMatching(/^O12 .*203\.0\.113\.1 tcp 22 .*organization-1 was not told/),
      ]);
      expect(broken(overdue(66).at(LATER))).toEqual([]);
    });

    it('finds a record that came late, is of another organization, of another address or of an earlier time', () => {
      expect(broken(overdue(400).at(LATER))).toEqual(['O12']);
      expect(broken(overdue(5).at(LATER))).toEqual(['O12']);
      const elsewhere = overdue(66, { organizationId: STRANGER, resourceId: null });
      expect(broken(elsewhere.at(LATER))).toEqual(['O12']);
      expect(broken(overdue(66, { details: { ipAddress: '203.0.113.11' } }).at(LATER))).toEqual(['O12']);
    });

    it('finds a rule that its holder left behind when its resource moved', () => {
      const moved = new MadeUpEvidence()
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
        faults: [{ name: 'refused', from: second(10), to: null, cloudOnly: true }],
      };
      expect(broken(moved.at(200))).toContain('O12');
      moved.record(66, 'RULE_REVOCATION_OVERDUE', { details: { ipAddress: '203.0.113.1' } });
      expect(broken(moved.at(200))).not.toContain('O12');
    });

    it('finds an orphan of which not every organization with a write-verified resource was told', () => {
      const orphan = (): MadeUpEvidence => {
        const evidence = new MadeUpEvidence()
          .resource(0, 'res')
          .resource(0, 'theirs', { organizationId: STRANGER })
          .resource(0, 'unverified', {
            organizationId: 'organization-3' as OrganizationId,
            writeVerified: false,
          })
          .cloud(1, 'opened')
          .event(20, 'FOUND', { holderKind: 'ORPHAN', cause: 'ORPHAN' })
          .record(70, 'RULE_REVOCATION_OVERDUE');
        evidence.more = {
          atRest: false,
          faults: [{ name: 'refused', from: second(0), to: null, cloudOnly: true }],
        };
        return evidence;
      };
      const found = judgeEvidence(orphan().at(LATER)).filter((words) => words.startsWith('O12'));
      expect(found).toEqual([expect.stringContaining('organization-2 was not told')]);
      const told = orphan().record(70, 'RULE_REVOCATION_OVERDUE', {
        organizationId: STRANGER,
        resourceId: 'theirs',
      });
      expect(broken(told.at(LATER))).not.toContain('O12');
    });

    it('allows a minute after the database or the workers are back, and no more', () => {
      const [from, to] = [second(10), second(300)];
      expect(reportDeadline(second(12), [{ name: 'killed', from, to }], 1)).toBe(second(360));
      expect(reportDeadline(second(12), [{ name: 'refused', from, to, cloudOnly: true }], 1)).toBe(
        second(75),
      );
      expect(broken(refused(false).at(LATER))).toEqual([]);
    });
  });

  describe('O13, nothing is reported removed while it is present', () => {
    const closed = (at: number, ...edges: (number | null)[]): MadeUpEvidence =>
      MadeUpEvidence.stopped(14).event(at, 'CLOSED', {
        cause: 'SESSION_STOPPED',
        ...interval(...edges),
      });

    it('finds CLOSED in the ledger before the rule was closed', () => {
      expect(broken(closed(14.2, 0.4, 0.6, 13.9, 14.1).at(LATER))).toEqual([]);
      expect(broken(closed(12, 0.4, 0.6, 10, 11.9).at(LATER))).toEqual(['O13']);
      expect(broken(closed(12, null, null, null, null).at(LATER))).toEqual(['O13']);
      const gone = MadeUpEvidence.stopped(14).event(12, 'CLOSED', { cause: 'TARGET_GONE' });
      expect(broken(gone.at(LATER))).toEqual([]);
    });

    it('accepts CLOSED of a rule that was closed and opened again since', () => {
      const reopened = closed(14.2, 0.4, 0.6, 13.9, 14.1)
        .cloud(14.15, 'opened', { providerRuleId: 'sgr-2' })
        .cloud(14.4, 'closed', { providerRuleId: 'sgr-2' });
      expect(broken(reopened.at(LATER))).not.toContain('O13');
    });

    it('finds REMOVED of a ResourceIp while the rule is present without another holder', () => {
      const lied = MadeUpEvidence.stopped(12.4).withLedger();
      const evidence = lied.at(LATER);
      const early = evidence.moves.map((move) =>
        move.kind === 'resource_ip' && move.now === 'REMOVED' ? { ...move, at: second(11) } : move,
      );
      expect(judgeEvidence({ ...evidence, moves: early }).join()).toMatch(/O13 .*shown as REMOVED/);
      expect(broken(evidence)).toEqual([]);
    });

    const orphan = (): MadeUpEvidence => {
      const evidence = new MadeUpEvidence().resource(0, 'res').cloud(1, 'opened');
      evidence.more = { atRest: false, faults: [{ name: 'refused', from: second(0), to: null }] };
      return evidence.withLedger();
    };

    it('finds RULE_ORPHAN_REMOVED while the orphan is present', () => {
      const claimed = orphan().record(20, 'RULE_ORPHAN_REMOVED');
      expect(broken(claimed.at(30))).toEqual(['O13']);
      const other = orphan().record(20, 'RULE_ORPHAN_REMOVED', {
        details: { rules: ['203.0.113.1/32 tcp 443'] },
      });
      expect(broken(other.at(30))).toEqual([]);
      expect(broken(orphan().cloud(19, 'closed').record(20, 'RULE_ORPHAN_REMOVED').at(30))).toEqual([]);
    });

    it('finds any record or health event that says "removed", and accepts "removal scheduled"', () => {
      const says = (errorMessage: string): MadeUpEvidence =>
        orphan().record(20, 'RULE_STALE', { errorMessage, details: { ipAddress: '203.0.113.1' } });
      expect(broken(says('203.0.113.1 was removed').at(30))).toEqual(['O13']);
      expect(broken(says('203.0.113.1: removal scheduled').at(30))).toEqual([]);
      expect(broken(says('203.0.113.1 could not be removed').at(30))).toEqual([]);
      const health = (message: string): MadeUpEvidence => orphan().health(20, 'RECONCILE_FAILED', message);
      expect(broken(health('1 orphan removed').at(30))).toEqual(['O13']);
      expect(broken(health('1 orphan: removal scheduled').at(30))).toEqual([]);
      expect(broken(health('1 orphan removed').cloud(19, 'closed').at(30))).toEqual([]);
    });

    it('finds RECONCILE_OK after an unwanted rule was present for a whole interval', () => {
      expect(broken(orphan().health(40, 'RECONCILE_OK').at(50))).toEqual([]);
      expect(broken(orphan().health(50, 'RECONCILE_OK').at(55))).toEqual(['O13']);
    });
  });

  describe('O14, the access report', () => {
    const session = (): MadeUpEvidence => MadeUpEvidence.stopped().resource(0, 'res');
    const item = interval(0.4, 0.6, 10.9, 11.1);

    it('accepts what was present and certain, and what was possible and not certain', () => {
      expect(broken(session().report(5, item).at(LATER))).toEqual([]);
      expect(broken(session().report(0.45, item).at(LATER))).toEqual([]);
      expect(
        broken(
          session()
            .report(5, interval(null, 0.6, 10.9, null))
            .at(LATER),
        ),
      ).toEqual([]);
    });

    it('finds what is called certain and was not present', () => {
      const early = session().report(0.45, interval(0.4, 0.42, 10.9, 11.1));
      expect(judgeEvidence(early.at(LATER))).toEqual([expect.stringMatching(/^O14 .*is certain at/)]);
      const late = session().report(11.5, interval(0.4, 0.6, 12, null));
      expect(broken(late.at(LATER))).toEqual(['O14']);
      const elsewhere = session().report(5, item, { ...item, ports: '22,443' });
      expect(broken(elsewhere.at(LATER))).toEqual(['O14']);
    });

    it('finds what was present and is missing, or was not possible', () => {
      expect(judgeEvidence(session().report(5).at(LATER))).toEqual([
        expect.stringMatching(/^O14 .*is not in the report/),
      ]);
      expect(
        broken(
          session()
            .report(10.95, interval(0.4, 0.6, 10.5, 10.9))
            .at(LATER),
        ),
      ).toEqual(['O14']);
      expect(broken(session().report(12).at(LATER))).toEqual([]);
    });

    it('finds an unmanaged rule that is missing, once the target was compared with it', () => {
      const unmanaged = cloudRule({ ours: false, providerRuleId: 'sgr-9', address: '192.0.2.1' });
      const seen = (comparedAt: number): string[] => {
        const evidence = session().cloud(2, 'opened', unmanaged).report(5, item);
        return broken(
          evidence.withLedger({ comparedAt: new Map([['target-1', second(comparedAt)]]) }).at(LATER),
        );
      };
      expect(seen(1)).toEqual([]);
      expect(seen(45)).toEqual(['O14']);
    });
  });
});
