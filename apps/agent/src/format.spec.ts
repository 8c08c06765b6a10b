import { NOTHING_DECIDED } from './guarding/guard-file';
import { desiredRule } from './state/host-state.testing';
import { formatChange, formatSeconds, formatStatus } from './format';

describe('Formatting', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min 0 s'],
    [3599, '59 min 59 s'],
    [7199, '1 h 59 min'],
    [90_061, '1 d 1 h'],
    [Infinity, 'no end'],
  ])('%d seconds are %s', (seconds, text) => expect(formatSeconds(seconds)).toBe(text));

  it('the status lists guarded traffic, dropped packets and allowed addresses', () => {
    const secondsLeft = new Map([
      ['guarded_ports 6 . 22', Infinity],
      ['guarded_protocols 58', Infinity],
      ['guarded_families 2', Infinity],
      ['exempt_ports 6 . 80', Infinity],
      ['host4_port 203.0.113.10 . 6 . 22', 3599],
      ['net4_any 10.0.0.0-10.0.0.255', Infinity],
    ]);
    expect(formatStatus({ structure: '', secondsLeft, dropped: 12 }, NOTHING_DECIDED)).toBe(
      [
        'Guarded: tcp 22, icmpv6, everything over IPv4',
        'Never guarded: tcp 80',
        '12 packets were dropped.',
        'Allowed:',
        '  203.0.113.10         tcp 22      59 min 59 s',
        '  10.0.0.0-10.0.0.255  everything  no end',
        '',
      ].join('\n'),
    );
    const planned = new Map([['host4_port 203.0.113.10 . 6 . 22', 7200.5]]);
    expect(formatStatus({ structure: '', secondsLeft, dropped: 12 }, NOTHING_DECIDED, planned)).toContain(
      'tcp 22      2 h 0 min, or 59 min 59 s without its server\n',
    );
    expect(formatStatus(null, NOTHING_DECIDED)).toBe('No guard is active on this host.\n');
  });

  it('a change lists each rule, and counts them when there are many', () => {
    const closed = desiredRule('a', { cidr: '203.0.113.1/32', holders: ['ann@example.com, session s1'] });
    const opened = desiredRule('b', { cidr: '198.51.100.0/24', deadline: 3_700_000 });
    expect(formatChange([closed], [opened], new Map([['a', 40_000]]), 100_000)).toEqual([
      'Opened: 198.51.100.0/24 to tcp 22 for 1 h 0 min',
      'Closed: 203.0.113.1 to tcp 22 (ann@example.com, session s1) after 1 min 0 s',
    ]);
    const many = Array.from({ length: 11 }, (_, index) => desiredRule(`m${index}`));
    expect(formatChange([], many, new Map(), 0)).toEqual(['11 rules opened, 0 closed']);
  });
});
