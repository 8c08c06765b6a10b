import { failureLine } from './failure';
import { type Inputs, readInputs } from './inputs';

const ORGANIZATION = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const AUDIENCE = `https://drawbridge.example.com/o/${ORGANIZATION}`;
const DEFAULTS = {
  lease: '300',
  addresses: 'observed',
  'ready-seconds': '300',
  'wait-seconds': '120',
  'allow-partial': 'false',
};

const read = (given: Readonly<Record<string, string>>): Inputs => {
  const inputs: Readonly<Record<string, string>> = {
    ...DEFAULTS,
    url: 'https://drawbridge.example.com',
    trust: AUDIENCE,
    ...given,
  };
  return readInputs((name) => inputs[name] ?? '');
};

describe('The inputs of the action', () => {
  it('have defaults', () => {
    expect(read({})).toEqual({
      url: 'https://drawbridge.example.com',
      identity: { kind: 'trust', audience: AUDIENCE, trustId: null },
      resources: [],
      hours: null,
      reason: '',
      ticket: '',
      leaseSeconds: 300,
      addresses: 'observed',
      probe: null,
      ready: '',
      readySeconds: 300,
      waitSeconds: 120,
      allowPartial: false,
    });
  });

  it.each([
    [{ url: 'https://drawbridge.example.com/base/api/v1/' }, { url: 'https://drawbridge.example.com/base' }],
    [
      { trust: `${AUDIENCE}#${ORGANIZATION}` },
      { identity: { kind: 'trust', audience: AUDIENCE, trustId: ORGANIZATION } },
    ],
    [{ trust: '', 'api-key': 'dbk_abc' }, { identity: { kind: 'key', apiKey: 'dbk_abc' } }],
    [{ resources: 'database\n  cache, queue ,\n' }, { resources: ['database', 'cache', 'queue'] }],
    [
      { hours: '24', lease: '3600' },
      { hours: 24, leaseSeconds: 3600 },
    ],
    [{ probe: '[2001:db8::1]:5432' }, { probe: { host: '2001:db8::1', port: 5432 } }],
    [
      { 'allow-partial': 'True', addresses: 'all' },
      { allowPartial: true, addresses: 'all' },
    ],
  ])('%j', (given, expected) => {
    expect(read(given as Record<string, string>)).toMatchObject(expected);
  });

  it.each([
    [{ url: '' }, 'The input url is missing. Fix: add url: https://drawbridge.example.com.'],
    [{ url: 'drawbridge' }, 'The input url must be an address like https://drawbridge.example.com. Fix: '],
    [{ trust: '' }, 'Neither trust nor api-key is given. Fix: set trust'],
    [{ 'api-key': 'dbk_abc' }, 'trust and api-key are both given. Fix: remove api-key'],
    [{ trust: 'production' }, 'The input trust is "production". Fix: set it to the audience'],
    [{ lease: '59' }, 'The input lease is "59". Fix: set it to a whole number from 60 to 3600.'],
    [{ lease: '1e3' }, 'The input lease is "1e3". Fix: '],
    [{ hours: '25' }, 'The input hours is "25". Fix: set it to a whole number from 1 to 24.'],
    [{ addresses: 'some' }, 'The input addresses is "some". Fix: set it to observed or all.'],
    [{ 'allow-partial': 'yes' }, 'The input allow-partial is "yes". Fix: set it to false or true.'],
    [{ probe: 'db.example.com' }, 'The input probe is "db.example.com". Fix: set it to HOST:PORT'],
  ])('%j is refused with the fix', (given, expected) => {
    expect(lineFor(given as Record<string, string>)).toContain(expected);
  });

  it.each([
    { url: 'https://user:canary@drawbridge.example.com' },
    { trust: '', 'api-key': 'canary\nsecond line' },
  ])('%j is refused without its secret', (given) => {
    expect(lineFor(given as Record<string, string>)).not.toContain('canary');
  });
});

function lineFor(given: Readonly<Record<string, string>>): string {
  try {
    return JSON.stringify(read(given));
  } catch (error) {
    return failureLine(error);
  }
}
