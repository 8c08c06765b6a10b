import { canonicalCidr, isWithin, parseHost, refusalOf } from '#rules';
import { SeededRandom } from '../simulation/seeded-random';
import { hasPython, Oracle, type Reading } from './address-oracle';
import { spelling } from './spellings';
import { SEED } from '../harness/seed';

/** `SPELLINGS=1000000 npm test -- test/hostile/address-spellings` is the long run. */
const COUNT = Number(process.env['SPELLINGS'] ?? 50_000);
const BATCH = 10_000;
const SHOWN = 20;
const MAX_MS = 600_000;

const withPython = hasPython ? describe : describe.skip;
if (!hasPython)
  process.stderr.write('\n*** python3 is missing: addresses WERE NOT COMPARED with its ipaddress ***\n\n');

/** Python calls documentation ranges private; Drawbridge accepts them. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'];

/** What Drawbridge refuses on purpose and Python accepts. */
const STRICTER: Readonly<Record<string, (text: string) => boolean>> = {
  'an address has no zone': (text) => text.includes('%'),
  'a prefix is decimal, without zeros in front and without a mask': (text) => /\/(?:0\d|.*\.)/.test(text),
  'a range has no mapped addresses': (text) =>
    text.includes('/') && text.includes(':') && parseHost(text.slice(0, text.indexOf('/')))?.version === 4,
};

/** The difference in how a text is read, unless it is a documented one. */
function differenceOf(text: string, [host, network, isGlobal]: Reading): string | null {
  const ours = parseHost(text);
  const isStricter = Object.values(STRICTER).some((rule) => rule(text));
  if ((ours?.text ?? null) !== host && !(ours === null && isStricter))
    return `${JSON.stringify(text)} is ${ours?.text} here and ${host} there`;
  // Python keeps a mapped address as IPv6, Drawbridge reads it as IPv4
  const range = canonicalCidr(text)?.cidr ?? null;
  const isMapped = ours?.version === 4 && text.includes(':');
  const expected = isMapped ? `${host}/32` : network;
  if (range !== expected && !(range === null && isStricter))
    return `the range ${JSON.stringify(text)} is ${range} here and ${expected} there`;
  if (!ours || isGlobal !== false || isWithin(ours.text, DOCUMENTATION)) return null;
  return refusalOf(ours, { allowPrivate: false }) === null
    ? `${JSON.stringify(text)} counts as public here and not there`
    : null;
}

withPython('Addresses and ranges are read as Python reads them, or refused on purpose', () => {
  let oracle: Oracle;

  beforeAll(() => {
    oracle = Oracle.start();
  });
  afterAll(() => oracle.stop());

  it(
    `${COUNT} spellings, seed ${SEED}`,
    async () => {
      const chance = new SeededRandom(SEED);
      const differences: string[] = [];
      const taken = { hosts: 0, ranges: 0 };
      for (let done = 0; done < COUNT && differences.length < SHOWN; done += BATCH) {
        const texts = Array.from({ length: Math.min(BATCH, COUNT - done) }, () => spelling(chance));
        const readings = await oracle.read(texts);
        for (const [index, text] of texts.entries()) {
          const reading = readings[index]!;
          const difference = differenceOf(text, reading);
          if (difference !== null) differences.push(difference);
          if (reading[0] !== null) taken.hosts += 1;
          else if (reading[1] !== null) taken.ranges += 1;
        }
      }
      expect(differences).toEqual([]);
      // generated texts that neither accepts would prove nothing
      expect(Math.min(taken.hosts, taken.ranges)).toBeGreaterThan(COUNT / 10);
    },
    MAX_MS,
  );

  it('detects a difference', () => {
    expect(differenceOf('10.0.0.1', ['10.0.0.2', '10.0.0.2/32', false])).toContain('is 10.0.0.1 here');
    expect(differenceOf('10.0.0.0/8', [null, '10.0.0.0/9', null])).toContain('the range');
    expect(differenceOf('8.8.8.8', ['8.8.8.8', '8.8.8.8/32', false])).toContain('counts as public');
    expect(differenceOf('1.2.3', ['1.2.3.0', null, true])).toContain('is undefined here');
  });
});
