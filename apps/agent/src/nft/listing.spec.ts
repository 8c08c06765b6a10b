import { readListing } from './listing';

const listing = (elem: unknown[], name = 'host4_port', rule: object = { accept: null }): string =>
  JSON.stringify({
    nftables: [
      { metainfo: { version: '1.0.6' } },
      { table: { family: 'inet', name: 'drawbridge', handle: 2 } },
      { set: { family: 'inet', name, table: 'drawbridge', handle: 3, elem } },
      { rule: { chain: 'check', handle: 9, expr: [{ counter: { packets: 7, bytes: 420 } }, rule] } },
    ],
  });

const first = (name: string, elem: unknown): [string, number] =>
  [...readListing(listing([elem], name)).secondsLeft][0]!;

describe('An nft listing', () => {
  it.each([
    ['host4_port', { concat: ['10.0.0.1', 6, 22] }, 'host4_port 10.0.0.1 . 6 . 22'],
    ['host6_any', '2001:db8:0:0::7', 'host6_any 2001:db8::7'],
    ['host6_any', '::1.2.3.4', 'host6_any ::102:304'],
    [
      'net4_port',
      { concat: [{ prefix: { addr: '10.0.0.0', len: 25 } }, 6, 22] },
      'net4_port 10.0.0.0-10.0.0.127 . 6 . 22',
    ],
    ['net4_any', { range: ['10.0.0.1', '10.0.0.9'] }, 'net4_any 10.0.0.1-10.0.0.9'],
    ['net4_protocol', { concat: ['10.0.0.1', 1] }, 'net4_protocol 10.0.0.1-10.0.0.1 . 1'],
    ['net6_any', { prefix: { addr: '::', len: 0 } }, 'net6_any ::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['guarded_ports', { concat: [6, 22] }, 'guarded_ports 6 . 22'],
    ['guarded_families', 2, 'guarded_families 2'],
  ])('in the set %s, reads the element %j', (name, value, key) => {
    expect(first(name, value)).toEqual([key, Infinity]);
    expect(first(name, { elem: { val: value, timeout: 30, expires: 29 } })).toEqual([key, 29]);
  });

  it('reads an element with less than a second left as expiring', () => {
    const elem = { elem: { val: { concat: ['10.0.0.1', 6, 22] }, timeout: 0, expires: 0 } };
    expect(first('host4_port', elem)[1]).toBe(0);
  });

  it('has a structure that ignores counters, elements and handles, and differs when a rule differs', () => {
    const { structure, dropped } = readListing(listing([]));
    expect(dropped).toBe(7);
    expect(
      readListing(listing(['10.0.0.1']).replaceAll('420', '99').replaceAll('"handle":9', '"handle":90'))
        .structure,
    ).toBe(structure);
    expect(readListing(listing([], 'host4_port', { drop: null })).structure).not.toBe(structure);
  });

  it('is refused when it is anything else', () => {
    expect(() => readListing('{}')).toThrow('something else');
    expect(() => readListing('Error')).toThrow('JSON');
  });
});
