import { named } from './named';

const NOUN = { one: 'role', several: 'roles' };
const ID = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const OTHER = '3fa9aaaa-5717-4562-b3fc-2c963f66afa6';
const KNOWN = [
  { id: ID, name: 'ops' },
  { id: OTHER, name: 'Ops' },
  { id: 'aaaa1111-5717-4562-b3fc-2c963f66afa6', name: '3fa8' },
];
const found = (given: string): string => named(given, KNOWN, NOUN).name;

describe('named', () => {
  it('takes the exact name before one in other letters’ case, and any name before an id', () => {
    expect(found('ops')).toBe('ops');
    expect(found('Ops')).toBe('Ops');
    expect(found('3fa8')).toBe('3fa8');
    expect(() => found('OPS')).toThrow(`Several roles are named "OPS": give the id, one of ${ID}, ${OTHER}`);
  });

  it('takes a name however its letters with marks are written', () => {
    const [one, other] = ['Gr\u00F6\u00DFe', 'gro\u0308\u00DFe'] as const;
    expect(named(other, [{ id: ID, name: one }], NOUN).id).toBe(ID);
    expect(named(one, [{ id: ID, name: other }], NOUN).id).toBe(ID);
  });

  it('takes the beginning of an id where it is the only one, from four characters', () => {
    expect(found('3FA85')).toBe('ops');
    expect(() => found('3fa')).toThrow('There is no role "3fa": there are "3fa8"');
  });

  it('names what there is', () => {
    expect(() => found('x')).toThrow('There is no role "x": there are "ops", "Ops", "3fa8"');
    expect(() => named('x', [], NOUN)).toThrow('there are no roles yet');
  });
});
