import { deadline } from './bounds';
import type { Evidence } from './evidence';
import { BEGUN_AT, cloudRule, GROUP, MadeUpEvidence, ORGANIZATION, STRANGER } from './made-up-evidence';
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

  describe('O5, foreign rules', () => {
    const foreign = cloudRule({ ours: false, providerRuleId: 'sgr-9', address: '192.0.2.1' });
    it('finds one that is gone', () => {
      const evidence = MadeUpEvidence.stopped().cloud(5, 'closed', foreign);
      evidence.more = { standingAtBegin: [foreign] };
      expect(broken(evidence.at(LATER))).toEqual(['O5']);
    });
    it('finds one that is not what it was', () => {
      const evidence = MadeUpEvidence.stopped();
      evidence.more = { standingAtBegin: [foreign], standing: [{ ...foreign, toPort: 23 }] };
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
});
