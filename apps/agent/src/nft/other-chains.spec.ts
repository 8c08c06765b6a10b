import { inputChains, mayDrop } from './other-chains';

const listing = (...parts: object[]): string => JSON.stringify({ nftables: [{ metainfo: {} }, ...parts] });
const chain = (name: string, more: object = {}): object => ({
  chain: { family: 'inet', table: 'filter', name, hook: 'input', policy: 'accept', ...more },
});
const rule = (of: string, ...expr: object[]): object => ({ rule: { table: 'filter', chain: of, expr } });
const MATCH = { match: { op: '==', left: { payload: { field: 'dport' } }, right: 22 } };

describe('Chains of other programs', () => {
  it('are those of the input hook that see IP packets', () => {
    const chains = listing(
      chain('input', { table: 'drawbridge' }),
      chain('input', { policy: 'drop' }),
      chain('input', { family: 'arp', table: 'a' }),
      chain('output', { hook: 'output', policy: 'drop' }),
      chain('sub', { hook: undefined, policy: undefined }),
      chain('INPUT', { family: 'ip' }),
    );
    expect(inputChains(chains).map(({ family, policy }) => [family, policy])).toEqual([
      ['inet', 'drop'],
      ['ip', 'accept'],
    ]);
  });

  it.each<[string, boolean, readonly object[]]>([
    ['drops', true, [rule('input', MATCH, { drop: null })]],
    [
      'rejects in a chain it goes to',
      true,
      [rule('input', { goto: { target: 'a' } }), rule('a', { reject: null })],
    ],
    [
      'drops in a chain it jumps to by a map',
      true,
      [
        rule('input', { vmap: { data: { set: [[22, { jump: { target: 'a' } }]] } } }),
        rule('a', { drop: null }),
      ],
    ],
    ['asks a map with a name', true, [rule('input', { vmap: { key: {}, data: '@verdicts' } })]],
    ['hands packets to a program', true, [rule('input', { queue: { num: 0 } })]],
    ['rejects as iptables does', true, [rule('input', { xt: { type: 'target', name: 'REJECT' } })]],
    ['has parts of iptables that nft does not name', true, [rule('input', { xt: null }, { accept: null })]],
    ['accepts and counts', false, [rule('input', MATCH, { counter: null }, { accept: null })]],
    [
      'has a comment',
      false,
      [{ rule: { chain: 'input', comment: '"drop":null', expr: [{ accept: null }] } }],
    ],
    ['is not where a drop is', false, [rule('output', { drop: null }), rule('input', { accept: null })]],
    ['goes round in a circle', false, [rule('input', { jump: { target: 'input' } })]],
  ])('a chain that %s may drop: %s', (_, expected, rules) => {
    expect(mayDrop(listing(...rules), 'input')).toBe(expected);
  });
});
