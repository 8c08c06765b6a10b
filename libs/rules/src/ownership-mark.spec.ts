import * as fc from 'fast-check';
import { formatMark, parseMark, type OwnershipMark } from './ownership-mark';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const EXPIRY = 1_790_000_000;
const TEXT = `drawbridge:prod:${RULE_ID}:${EXPIRY}`;
const MAX_LENGTH: OwnershipMark = { deployment: 'd'.repeat(32), ruleId: RULE_ID, expiresAt: 999_999_999_999 };

const DEPLOYMENT_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-'.split('');
const mark: fc.Arbitrary<OwnershipMark> = fc.record({
  deployment: fc.string({ unit: fc.constantFrom(...DEPLOYMENT_CHARACTERS), minLength: 1, maxLength: 32 }),
  ruleId: fc.uuid(),
  expiresAt: fc.option(fc.oneof(fc.constantFrom(0, 1, 999_999_999_999), fc.nat({ max: 4_102_444_800 })), {
    nil: null,
  }),
});

describe('formatMark', () => {
  it('contains deployment, rule id and expiry', () => {
    expect(formatMark({ deployment: 'prod', ruleId: RULE_ID, expiresAt: EXPIRY })).toBe(TEXT);
    expect(formatMark({ deployment: 'prod', ruleId: RULE_ID, expiresAt: null })).toBe(
      `drawbridge:prod:${RULE_ID}:never`,
    );
    expect(formatMark({ deployment: 'prod', ruleId: RULE_ID, expiresAt: 0 })).toBe(
      `drawbridge:prod:${RULE_ID}:0`,
    );
  });

  it('is parsed back unchanged, with the deployment that has made it', () => {
    fc.assert(
      fc.property(mark, (one) => {
        expect(parseMark(formatMark(one))).toEqual(one);
      }),
    );
  });

  it('fits every provider: at most 100 characters of a-z, 0-9, ":" and "-"', () => {
    fc.assert(
      fc.property(mark, (one) => {
        expect(formatMark(one)).toMatch(/^[a-z0-9:-]{1,100}$/);
      }),
    );
    expect(formatMark(MAX_LENGTH)).toMatch(/^[a-z0-9:-]{1,100}$/);
  });
});

describe('parseMark refuses', () => {
  const changed = (from: string, ...to: string[]): string[] => to.map((text) => TEXT.replace(from, text));

  it.each<[string, (string | null | undefined)[]]>([
    ['nothing', [null, undefined, '', ' ']],
    ['other texts', ['office', 'managed by drawbridge', 'drawbridge', 'drawbridge:', 'drawbridge:::']],
    ['more before it', [` ${TEXT}`, `\n${TEXT}`, `office ${TEXT}`, `x${TEXT}`, `office\n${TEXT}\noffice`]],
    ['more after it', [`${TEXT} `, `${TEXT}\n`, `${TEXT} office`, `${TEXT}:1`, `${TEXT}\0`]],
    ['a part missing', [TEXT.slice(1), ...changed('prod:', '', ':'), ...changed(RULE_ID, '')]],
    ['no end', [...changed(`:${EXPIRY}`, '', ':')]],
    ['another case', [TEXT.toUpperCase(), ...changed('d', 'D'), ...changed('prod', 'Prod')]],
    ['a deployment that cannot be', changed('prod', 'a b', 'a_b', 'prød', 'a'.repeat(33), 'a:b')],
    [
      'a rule id of other characters',
      changed(RULE_ID, '-'.repeat(36), 'a'.repeat(36), RULE_ID.toUpperCase()),
    ],
    ['a rule id of another length', changed(RULE_ID, RULE_ID.slice(1), `${RULE_ID}0`)],
    ['an end that is no number', changed(`${EXPIRY}`, 'NEVER', 'null', 'NaN', 'Infinity', '١٧٩', ' 1')],
    ['an end in another form', changed(`${EXPIRY}`, '-1', '1.5', '1e9', '0x10', '01', '1790000000000')],
    ['quotes and escapes', [`"${TEXT}"`, TEXT.replaceAll(':', '%3A'), ...changed('prod', "prod' OR '1'='1")]],
  ])('%s', (_kind, texts) => {
    expect(texts.filter((text) => parseMark(text) !== null)).toEqual([]);
  });

  it('a mark with any character changed', () => {
    const damage = fc.tuple(
      mark,
      fc.nat({ max: 92 }),
      fc.string({ unit: 'binary', minLength: 0, maxLength: 2 }),
    );
    fc.assert(
      fc.property(damage, ([one, at, put]) => {
        const text = formatMark(one);
        const position = at % text.length;
        const damaged = text.slice(0, position) + put + text.slice(position + 1);
        const read = parseMark(damaged);
        expect(read === null ? damaged : formatMark(read)).toBe(damaged);
      }),
      { numRuns: 2000 },
    );
  });

  it('long texts in linear time', () => {
    const hostile = [
      `drawbridge:${'a-'.repeat(500_000)}`,
      `drawbridge:a:${'0'.repeat(1_000_000)}`,
      'drawbridge:'.repeat(100_000),
    ];
    expect(hostile.map(parseMark)).toEqual([null, null, null]);
  });
});
