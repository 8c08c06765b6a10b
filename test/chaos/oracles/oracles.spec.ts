import { deadline } from './bounds';
import type { Evidence } from './evidence';
import { cloudRule, GROUP, EvidenceBuilder, ORGANIZATION, OTHER_ORGANIZATION } from './evidence-builder';
import { judgeEvidence } from './oracles';
import { atSecond, LATER, violatedOracles } from './violated-oracles';

describe('The oracles', () => {
  it('find no violation in a session that was opened and closed in time', () => {
    expect(judgeEvidence(EvidenceBuilder.stopped().at(LATER))).toEqual([]);
  });

  describe('O1, no leak', () => {
    it('finds a rule that was closed long after its holder stopped', () => {
      expect(judgeEvidence(EvidenceBuilder.stopped(500).at(LATER))).toEqual([
        expect.stringMatching(/^O1 .*was closed 490\.0 s after/),
      ]);
    });

    it('finds a rule that outlived the expiry of its session while the session was not ended', () => {
      const open = new EvidenceBuilder()
        .session(0, 's', 'PENDING', { expiresAt: 10 })
        .ip(0, 'ip', 'PENDING')
        .rule(0, 'r', 'absent')
        .holder(0, 'r', 'ip')
        .cloud(0.5, 'opened');
      expect(violatedOracles(open.at(LATER))).toContain('O1');
    });

    it('finds a rule of ours that never had a holder', () => {
      expect(violatedOracles(new EvidenceBuilder().cloud(1, 'opened').at(LATER))).toContain('O1');
    });

    it('allows at most a minute after the end of a fault', () => {
      const faults = [{ name: 'outage', from: atSecond(9), to: atSecond(400) }];
      const late = (closedAt: number): string[] => {
        const evidence = EvidenceBuilder.stopped(closedAt);
        evidence.more = { faults };
        return violatedOracles(evidence.at(LATER));
      };
      expect(late(450)).toEqual([]);
      expect(late(2900)).toEqual(['O1']);
      expect(deadline(atSecond(10), faults, 1)).toBe(atSecond(460));
      expect(deadline(atSecond(10), [], 1)).toBe(atSecond(15));
      expect(deadline(atSecond(461), faults, 1)).toBe(atSecond(466));
    });
  });

  describe('O2, no loss', () => {
    it('finds a session that never left PENDING', () => {
      expect(violatedOracles(new EvidenceBuilder().session(0, 's', 'PENDING').at(LATER))).toContain('O2');
    });
    it('finds a session that never ended', () => {
      const stuck = EvidenceBuilder.stopped().without('session', 'CANCELLED');
      expect(violatedOracles(stuck.at(LATER))).toContain('O2');
    });
    it('finds an acknowledged session that is missing', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { acknowledged: ['s', 'another'] };
      expect(judgeEvidence(evidence.at(LATER))).toEqual([expect.stringContaining('session another')]);
    });
  });

  describe('O3, exact count', () => {
    it('finds a rule that was present twice', () => {
      const twice = EvidenceBuilder.stopped();
      twice.timeline.splice(
        1,
        0,
        { event: 'opened', at: atSecond(2), ...cloudRule({ providerRuleId: 'sgr-2' }) },
        { event: 'closed', at: atSecond(3), ...cloudRule({ providerRuleId: 'sgr-2' }) },
      );
      expect(judgeEvidence(twice.at(LATER))).toEqual([expect.stringMatching(/^O3 .*was present twice/)]);
    });
    it('finds a rule state in the database that differs from the cloud', () => {
      const wrong = EvidenceBuilder.stopped().rule(20, 'r', 'present');
      expect(judgeEvidence(wrong.at(LATER))).toEqual([
        expect.stringMatching(/^O3 .*is present in the database/),
      ]);
    });
  });

  it('O4, not early: finds a gap while the session is ACTIVE, unless another program made it', () => {
    const gap = EvidenceBuilder.stopped();
    gap.timeline.splice(
      1,
      0,
      { event: 'closed', at: atSecond(3), ...cloudRule() },
      { event: 'opened', at: atSecond(5), ...cloudRule() },
    );
    expect(judgeEvidence(gap.at(LATER))).toEqual([expect.stringMatching(/^O4 .*missing for 2\.0 s/)]);
    gap.more = { outsideChanges: new Set([`${GROUP} 203.0.113.1`]) };
    expect(judgeEvidence(gap.at(LATER))).toEqual([]);
  });

  describe('O5, unmanaged rules', () => {
    const unmanaged = cloudRule({ ours: false, providerRuleId: 'sgr-9', address: '192.0.2.1' });
    it('finds one that was removed', () => {
      const evidence = EvidenceBuilder.stopped().cloud(5, 'closed', unmanaged);
      evidence.more = { presentAtStart: [unmanaged] };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O5']);
    });
    it('finds one that was changed', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { presentAtStart: [unmanaged], presentRules: [{ ...unmanaged, toPort: 23 }] };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O5']);
    });
  });

  describe('O6, tenant isolation', () => {
    it('finds an address of one organization in a session of another', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { owners: new Map([['res', OTHER_ORGANIZATION]]) };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O6']);
    });
    it('finds a rule written with a credential of another organization', () => {
      const written = EvidenceBuilder.stopped().rule(20, 'r', 'absent', {
        credentialId: 'foreign-credential',
      });
      expect(violatedOracles(written.at(LATER))).toEqual(['O6']);
      const own = EvidenceBuilder.stopped().rule(20, 'r', 'absent', { credentialId: 'own-credential' });
      expect(violatedOracles(own.at(LATER))).toEqual([]);
    });
    it('finds an Idempotency-Key answered with a session of another organization', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { storedKeys: [{ key: 'k', sessionId: 's', organizationId: OTHER_ORGANIZATION }] };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O6']);
    });
  });

  it('O7, legal states: finds an illegal transition', () => {
    const reapplied = EvidenceBuilder.stopped().ip(20, 'ip', 'APPLIED').ip(21, 'ip', 'REMOVED');
    expect(violatedOracles(reapplied.at(LATER))).toContain('O7');
    const created = new EvidenceBuilder().session(0, 's', 'EXPIRED');
    expect(violatedOracles(created.at(LATER))).toContain('O7');
  });

  describe('O8, the audit trail', () => {
    const records = EvidenceBuilder.stopped().at(LATER).audit;
    const violatedBy = (audit: Evidence['audit']): string[] => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { audit };
      return violatedOracles(evidence.at(LATER));
    };
    it('finds a missing record and a duplicate one', () => {
      expect(violatedBy(records.slice(1))).toEqual(['O8']);
      expect(violatedBy([...records, records[0]!])).toEqual(['O8']);
    });
    it('finds a broken audit chain', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = { brokenChains: ['the chain of example is broken: position 1'] };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O8']);
    });
  });

  describe('O9, bounded calls', () => {
    it('finds calls without a cause', () => {
      const busy = EvidenceBuilder.stopped();
      for (let call = 0; call < 60; call += 1) busy.call(20 + call, 'DescribeSecurityGroupRules');
      expect(violatedOracles(busy.at(100))).toEqual(['O9']);
    });
    it('finds a rule that is retried without backoff', () => {
      const hot = EvidenceBuilder.stopped();
      for (let attempts = 1; attempts <= 40; attempts += 1)
        hot.rule(20 + attempts / 10, 'r', 'absent', { attempts });
      expect(violatedOracles(hot.at(30))).toEqual(['O9']);
    });
  });

  describe('O10, status reflects observation', () => {
    it('finds APPLIED before any read', () => {
      const hasty = EvidenceBuilder.stopped();
      hasty.calls.splice(0, 3);
      expect(violatedOracles(hasty.at(LATER))).toEqual(['O10']);
    });
    it.each([
      ['allows it soon after the read of a pass that settles', 1.2, []],
      ['finds it later', 5, ['O10']],
    ])('APPLIED of an address that comes to a rule which is there: %s', (_, at, found) => {
      const joined = EvidenceBuilder.stopped();
      joined
        .session(at, 't', 'PENDING')
        .ip(at, 'other', 'PENDING', 't')
        .holder(at, 'r', 'other')
        .ip(at + 0.1, 'other', 'APPLIED', 't');
      const evidence = joined.at(LATER);
      expect(
        judgeEvidence(evidence)
          .filter((message) => message.startsWith('O10'))
          .map((message) => message.slice(0, 3)),
      ).toEqual(found);
    });
    it('finds REMOVED before any read', () => {
      const hasty = EvidenceBuilder.stopped();
      hasty.calls.splice(3);
      hasty.calls.push({
        at: atSecond(11),
        operation: 'RevokeSecurityGroupIngress',
        target: GROUP,
        outcome: 'OK',
      });
      expect(violatedOracles(hasty.at(LATER))).toEqual(['O10']);
    });
  });

  it('O10, status reflects observation: allows REMOVED while another, expired holder is not released', () => {
    const shared = EvidenceBuilder.stopped(13);
    shared
      .session(2, 't', 'PENDING', { expiresAt: 9 })
      .ip(2, 'other', 'PENDING', 't')
      .holder(2, 'r', 'other')
      .ip(12, 'other', 'REMOVING', 't');
    const early = shared.at(LATER);
    const moves = early.moves.map((move) =>
      move.kind === 'resource_ip' && move.ipId === 'ip' && move.now === 'REMOVED'
        ? { ...move, at: atSecond(10.5) }
        : move,
    );
    const violations = judgeEvidence({ ...early, moves }).filter((message) => message.startsWith('O10'));
    expect(violations).toEqual([]);
    const alone = moves.filter((move) => !(move.kind === 'holder' && move.ipId === 'other'));
    expect(judgeEvidence({ ...early, moves: alone }).join()).toContain('O10');
  });

  describe('O11, one session per key', () => {
    it('finds a key with two answers', () => {
      const evidence = EvidenceBuilder.stopped();
      evidence.more = {
        storedKeys: [{ key: 'k', sessionId: 's', organizationId: ORGANIZATION }],
        keyedAnswers: [{ key: 'k', sessionId: 'other' }],
      };
      expect(violatedOracles(evidence.at(LATER))).toEqual(['O11']);
    });
    it('finds two sessions for an address that was requested with one key', () => {
      const evidence = EvidenceBuilder.stopped().session(0, 't', 'PENDING');
      evidence.more = { keyedAddresses: ['203.0.113.1'] };
      expect(violatedOracles(evidence.at(LATER))).toContain('O11');
    });
  });
});
