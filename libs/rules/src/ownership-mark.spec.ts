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

  it('is parsed back unchanged', () => {
    fc.assert(
      fc.property(mark, (one) => {
        expect(parseMark(formatMark(one))).toEqual(one);
      }),
    );
  });

  it('fits every provider: at most 100 characters of a-z, 0-9, ":" and "-"', () => {
    expect(formatMark(MAX_LENGTH).length).toBeLessThanOrEqual(100);
    fc.assert(
      fc.property(mark, (one) => {
        expect(formatMark(one)).toMatch(/^[a-z0-9:-]{1,100}$/);
      }),
    );
  });
});

describe('parseMark refuses', () => {
  it.each<[string, (string | null | undefined)[]]>([
    ['nothing', [null, undefined, '', ' ']],
    ['other texts', ['office', 'managed by drawbridge', 'drawbridge', 'drawbridge:', 'drawbridge:::']],
    [
      'more around it',
      [
        ` ${TEXT}`,
        `${TEXT} `,
        `${TEXT}\n`,
        `\n${TEXT}`,
        `office ${TEXT}`,
        `${TEXT} office`,
        `${TEXT}:1`,
        `x${TEXT}`,
        `${TEXT}\0`,
        `office\n${TEXT}\noffice`,
      ],
    ],
    [
      'a part missing',
      [
        TEXT.slice(1),
        TEXT.slice(0, TEXT.lastIndexOf(':')),
        `drawbridge:${RULE_ID}:${EXPIRY}`,
        `drawbridge:prod::${EXPIRY}`,
        `drawbridge::${RULE_ID}:${EXPIRY}`,
        `drawbridge:prod:${RULE_ID}:`,
      ],
    ],
    [
      'another case',
      [
        TEXT.toUpperCase(),
        TEXT.replace('d', 'D'),
        TEXT.replace('prod', 'Prod'),
        TEXT.replace('0b6f', '0B6F'),
        TEXT.replace(String(EXPIRY), 'NEVER'),
      ],
    ],
    [
      'a deployment that cannot be',
      [
        TEXT.replace('prod', 'a b'),
        TEXT.replace('prod', 'a_b'),
        TEXT.replace('prod', 'prød'),
        TEXT.replace('prod', 'a'.repeat(33)),
        TEXT.replace('prod', 'a:b'),
      ],
    ],
    [
      'a rule id that is none',
      [
        '-'.repeat(36),
        'a'.repeat(36),
        RULE_ID.slice(1),
        `${RULE_ID}0`,
        RULE_ID.replaceAll('-', ''),
        RULE_ID.replace('-', '0'),
        `${RULE_ID.slice(1)}g`,
        `{${RULE_ID.slice(2)}}`,
      ].map((id) => TEXT.replace(RULE_ID, id)),
    ],
    [
      'an end that is none',
      [
        '-1',
        '1.5',
        '1e9',
        '0x10',
        '01',
        '00',
        '1790000000000',
        'null',
        'NaN',
        'Infinity',
        'ever',
        '١٧٩',
        ' 1',
      ].map((end) => `drawbridge:prod:${RULE_ID}:${end}`),
    ],
    [
      'quotes and escapes',
      [
        `"${TEXT}"`,
        TEXT.replaceAll(':', '%3A'),
        TEXT.replaceAll(':', '：'),
        TEXT.replace('prod', "prod' OR '1'='1"),
      ],
    ],
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

describe('A mark of another deployment', () => {
  it('is parsed with its own deployment', () => {
    expect(parseMark(TEXT.replace('prod', 'prod-2'))?.deployment).toBe('prod-2');
    expect(parseMark(TEXT)?.deployment).toBe('prod');
  });
});
