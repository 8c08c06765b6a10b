import { changeBetween } from './guard';
import { changeTransaction, replaceTransaction, structure } from './ruleset';

const NOW = 1_000_000;
const A = 'host4_port 10.0.0.1 . 6 . 22';
const B = 'host4_port 10.0.0.2 . 6 . 22';
const NET = 'net4_port 10.1.0.0-10.1.0.255 . 6 . 22';
const HALF_NET = 'net4_port 10.1.0.0-10.1.0.127 . 6 . 22';

describe('A change between two sets of elements', () => {
  it('has new elements, elements with another deadline, and removed ones', () => {
    const known = new Map([
      [A, NOW + 5000],
      [B, NOW + 5000],
      [NET, Infinity],
    ]);
    const desired = new Map([
      [A, NOW + 5400],
      [B, NOW + 9000],
      ['host6_any ::1', Infinity],
    ]);
    expect(changeBetween(known, desired, NOW)).toEqual({
      removed: [B, NET],
      ending: [],
      set: new Map([
        [B, NOW + 9000],
        ['host6_any ::1', Infinity],
      ]),
    });
  });

  it('knows which elements may have expired since they were read', () => {
    const known = new Map([
      [A, NOW + 1000],
      [B, NOW + 2000],
    ]);
    expect(changeBetween(known, new Map(), NOW)).toMatchObject({ removed: [B], ending: [A] });
  });

  it('distinguishes no deadline from a deadline', () => {
    expect(changeBetween(new Map([[A, Infinity]]), new Map([[A, NOW]]), NOW).set.size).toBe(1);
    expect(changeBetween(new Map([[A, NOW]]), new Map([[A, Infinity]]), NOW).set.size).toBe(1);
    expect(changeBetween(new Map([[A, Infinity]]), new Map([[A, Infinity]]), NOW).set.size).toBe(0);
  });
});

describe('An nft transaction', () => {
  it('deletes before it adds, and adds first only what may be missing', () => {
    const set = new Map([
      [B, NOW + 1500.2],
      [NET, Infinity],
    ]);
    const text = changeTransaction({ removed: [B, HALF_NET], ending: [A], set }, NOW);
    expect(text).toBe(
      'add element inet drawbridge host4_port { 10.0.0.1 . 6 . 22 }\n' +
        'delete element inet drawbridge host4_port { 10.0.0.1 . 6 . 22, 10.0.0.2 . 6 . 22 }\n' +
        'delete element inet drawbridge net4_port { 10.1.0.0-10.1.0.127 . 6 . 22 }\n' +
        'add element inet drawbridge host4_port { 10.0.0.2 . 6 . 22 timeout 1501ms }\n' +
        'add element inet drawbridge net4_port { 10.1.0.0-10.1.0.255 . 6 . 22 }\n',
    );
  });

  it('never has a timeout of zero, which would mean no end', () => {
    const elements = new Map([
      [A, NOW + 0.4],
      [B, NOW],
    ]);
    const text = replaceTransaction(elements, NOW, { keepEstablished: false });
    expect(text).toContain('{ 10.0.0.1 . 6 . 22 timeout 100ms }');
    expect(text).not.toContain('10.0.0.2');
  });

  it('accepts established connections only with keepEstablished', () => {
    expect(structure({ keepEstablished: false })).not.toContain('established');
    expect(structure({ keepEstablished: true })).toContain('ct state established,related accept');
  });
});
