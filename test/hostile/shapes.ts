/** Repeated units over which a careless expression backtracks. */
const UNITS: Readonly<Record<string, string>> = {
  blanks: ' ',
  'line breaks': '\n',
  slashes: '/',
  dots: '.',
  digits: '1',
  zeros: '0',
  letters: 'a',
  colons: ':',
  commas: ',',
  hyphens: '-',
  stars: '*',
  quotes: '"',
  'open brackets': '[',
  'closed brackets': ']',
  'nested arrays': '[[',
  'nested objects': '{"a":',
  hashes: '#',
  'question marks': '?',
  'percent signs': '%',
  'at signs': '@',
  'equals signs': '=',
  'escaped slashes': '%2F',
  'parent folders': '../',
  'own folders': '/.',
  'escaped percent signs': '%25',
  'names of pages': 'reset-password',
  octets: '1.',
  groups: 'a:',
  labels: 'a.a-',
  'list entries': 'a, ',
  'blanks and letters': 'a ',
  'small words': 'body ',
  'letters with marks': 'e\u0301',
  'emoji joined': '\u{1F469}\u200D',
  'wide letters': 'ﷺ',
};

/** Text around the run: a valid beginning and an invalid end. */
const FRAMES: readonly (readonly [head: string, tail: string])[] = [
  ['', ''],
  ['a', 'b'],
  ['', '!'],
  ['[', '!'],
  ['Bearer a', 'b'],
  ['http://a/', 'b'],
  ['http://a', '\u0000'],
  ['1.2.3.4', '\n'],
  ['::', '%'],
  ['a@', '!'],
];

export interface Shape {
  readonly name: string;
  /** a text of this shape and length */
  readonly text: (length: number) => string;
}

const shapeOf = (name: string, unit: string, head: string, tail: string): Shape => ({
  name: `${JSON.stringify(head)}, ${name}, ${JSON.stringify(tail)}`,
  text: (length) => {
    const room = Math.max(0, length - head.length - tail.length);
    return head + unit.repeat(Math.ceil(room / unit.length)).slice(0, room) + tail;
  },
});

/** Every unit in every frame. */
export const SHAPES: readonly Shape[] = Object.entries(UNITS).flatMap(([name, unit]) =>
  FRAMES.map(([head, tail]) => shapeOf(name, unit, head, tail)),
);
