import { accessCsv } from './access-csv';
import type { AccessItemDto } from './dto/access-item.dto';

const item = (name: string): AccessItemDto => ({
  resource: { id: '3fa85f64-5717-4562-b3fc-2c963f66afa6', name },
  target: { provider: 'AWS', identifier: 'sg-0123456789abcdef0' },
  address: '203.0.113.10/32',
  protocol: 'tcp',
  ports: '22,443',
  holderKind: 'ORPHAN',
  holderId: null,
  userEmail: null,
  cause: null,
  certainFrom: null,
  certainUntil: null,
  possibleFrom: new Date('2026-01-31T09:30:00.000Z'),
  possibleUntil: null,
  reason: null,
  ticket: null,
  approvers: ['ada@example.com', 'bo@example.com'],
  breakGlass: false,
});

const HEADER =
  'resourceId,resourceName,provider,target,address,protocol,ports,holderKind,holderId,userEmail,cause,' +
  'certainFrom,certainUntil,possibleFrom,possibleUntil,reason,ticket,approvers,breakGlass';

describe('accessCsv', () => {
  it('returns a header and a line for each item, each ended by CRLF, with empty fields for null', () => {
    expect(accessCsv([item('database')])).toBe(
      `${HEADER}\r\n3fa85f64-5717-4562-b3fc-2c963f66afa6,database,AWS,sg-0123456789abcdef0,203.0.113.10/32,tcp,` +
        '"22,443",ORPHAN,,,,,,2026-01-31T09:30:00.000Z,,,,ada@example.com bo@example.com,false\r\n',
    );
  });

  it.each([
    ['a comma', 'a,b', '"a,b"'],
    ['a quote', 'a"b', '"a""b"'],
    ['a line break', 'a\nb', '"a\nb"'],
    ['=, as of a formula', '=HYPERLINK(1)', "'=HYPERLINK(1)"],
    ['+, as of a formula', '+1', "'+1"],
    ['-, as of a formula', '-1', "'-1"],
    ['@, as of a formula', '@SUM(1)', "'@SUM(1)"],
    ['a tab', '\tx', "'\tx"],
    ['a formula with quotes', '=A("1")', `"'=A(""1"")"`],
    ['a minus in the middle', 'a-b', 'a-b'],
    ['a formula where ; separates', 'a;=1+1', "a;'=1+1"],
    ['a quoted formula where ; separates', 'a; "@A"', `"a;' ""@A"""`],
    ['a formula where tabs separate', 'a\t-1', "a\t'-1"],
    ['a formula on a line of its own', 'a\r\n+1', `"a\r\n'+1"`],
    ['a formula of wide characters', '＝1', "'＝1"],
    ['a semicolon', 'a;b=c', 'a;b=c'],
  ])('escapes a name with %s', (_, name, expected) => {
    expect(accessCsv([item(name)])).toContain(`,${expected},AWS`);
  });
});
