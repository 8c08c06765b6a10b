import type { SeededRandom } from '../simulation/seeded-random';

/** Boundary values of addresses. */
const OCTETS = [0, 1, 9, 10, 99, 100, 127, 169, 172, 192, 198, 203, 223, 224, 240, 254, 255, 256, 300, 999];
const GROUPS = [
  0, 1, 0xff, 0xdb8, 0xfff, 0x2001, 0x2002, 0x2620, 0x64, 0xff9b, 0xfc00, 0xfe80, 0xfec0, 0xffff,
];
const ODD = [
  '',
  ' ',
  '.',
  ':',
  '::',
  '/',
  '//',
  '-',
  '+',
  '%',
  '%1',
  '%eth0',
  '0',
  '00',
  '0x',
  'g',
  'G',
  'x',
  '\0',
  '\n',
  '\t',
  '\u00A0',
  '\u0661',
  '\uFF11',
  '²',
  '。',
  '[',
  ']',
  ',',
  '1e1',
  '1_0',
  '😀',
  '\uD800',
];
const PREFIXES = [
  '0',
  '1',
  '8',
  '08',
  '+8',
  '-1',
  '24',
  '31',
  '32',
  '33',
  '48',
  '64',
  '96',
  '127',
  '128',
  '129',
  '999',
  '1000',
  '',
  ' 8',
  '8 ',
  '255.0.0.0',
  '0.255.255.255',
  '255.255.255.255',
  '0.0.0.0',
  '255.0.255.0',
  '8/8',
  '٨',
  '1_0',
];

/** A spelling of an address or a range: valid, nearly valid, or odd. */
export function spelling(chance: SeededRandom): string {
  const address = chance.happens(0.5) ? ipv4(chance) : ipv6(chance);
  const text = chance.happens(0.5) ? address : `${address}/${prefix(chance)}`;
  return chance.happens(0.25) ? damaged(chance, text) : text;
}

function ipv4(chance: SeededRandom): string {
  const count = chance.happens(0.95) ? 4 : chance.whole(1, 6);
  return Array.from({ length: count }, () => octet(chance)).join('.');
}

function octet(chance: SeededRandom): string {
  const value = chance.happens(0.5) ? chance.whole(0, 255) : chance.pick(OCTETS);
  if (chance.happens(0.98)) return String(value);
  return chance.pick([`0${value}`, `0x${value.toString(16)}`, `0${value.toString(8)}`, `00${value}`, '']);
}

function ipv6(chance: SeededRandom): string {
  const isDotted = chance.happens(0.15);
  const count = chance.happens(0.95) ? (isDotted ? 6 : 8) : chance.whole(1, 10);
  const groups = Array.from({ length: count }, () => hextet(chance));
  if (isDotted && chance.happens(0.4)) groups.splice(0, 6, '0', '0', '0', '0', '0', 'ffff');
  const written = [...groups, ...(isDotted ? [ipv4(chance)] : [])];
  if (chance.happens(0.4)) return written.join(':');
  const from = chance.whole(0, written.length);
  const until = chance.whole(from, written.length);
  const text = `${written.slice(0, from).join(':')}::${written.slice(until).join(':')}`;
  return chance.happens(0.03) ? `${text}%${chance.pick(['', '0', '1', 'eth0', '25en0'])}` : text;
}

function hextet(chance: SeededRandom): string {
  if (chance.happens(0.35)) return chance.pick(['0', '0', '00', '0000']);
  const value = chance.happens(0.5) ? chance.whole(0, 0xffff) : chance.pick(GROUPS);
  const text = value.toString(16).padStart(chance.happens(0.8) ? 1 : chance.whole(1, 5), '0');
  return chance.happens(0.5) ? text : text.toUpperCase();
}

const prefix = (chance: SeededRandom): string =>
  chance.happens(0.7) ? String(chance.whole(0, 130)) : chance.pick(PREFIXES);

function damaged(chance: SeededRandom, text: string): string {
  const at = chance.whole(0, text.length);
  const removed = chance.whole(0, 2);
  const twice = chance.happens(0.2) ? text.slice(at, at + removed) : '';
  return text.slice(0, at) + twice + (chance.happens(0.6) ? chance.pick(ODD) : '') + text.slice(at + removed);
}
