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
      ['host4_port 203.0.113.10 . 6 . 22', 3599],
      ['net4_any 10.0.0.0-10.0.0.255', Infinity],
    ]);
    expect(formatStatus({ structure: '', secondsLeft, dropped: 12 })).toBe(
      [
        'Guarded: tcp 22, icmpv6, everything over IPv4',
        '12 packets were dropped.',
        'Allowed:',
        '  203.0.113.10         tcp 22      59 min 59 s',
        '  10.0.0.0-10.0.0.255  everything  no end',
        '',
      ].join('\n'),
    );
    expect(formatStatus(null)).toBe('No guard is active on this host.\n');
  });

  it('a change lists each rule, and counts them when there are many', () => {
    const rule = (id: string, cidr: string) =>
      ({ id, cidr, protocol: 'tcp', ports: [22], deadline: Infinity, unconfirmed: true }) as const;
    const [a, b] = [rule('a', '203.0.113.1/32'), rule('b', '198.51.100.0/24')];
    expect(formatChange([a], [b])).toEqual([
      'Opened: 198.51.100.0/24 to tcp 22',
      'Closed: 203.0.113.1 to tcp 22',
    ]);
    const many = Array.from({ length: 11 }, (_, index) => rule(`m${index}`, `10.0.0.${index}/32`));
    expect(formatChange([], many)).toEqual(['11 rules opened, 0 closed']);
  });
});
