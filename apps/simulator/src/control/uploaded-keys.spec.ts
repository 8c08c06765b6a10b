import { startSimulator, type RunningSimulator } from '../start-simulator';

const ISSUER = 'https://drawbridge.example.com/oidc/one';
const KEY = { kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'one', n: 'AQAB', e: 'AQAB' };

describe('The keys of an issuer as a file', () => {
  let simulator: RunningSimulator;

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
  });
  afterAll(() => simulator.close());

  const upload = (provider: string, jwks: unknown): Promise<Response> =>
    fetch(`${simulator.url}/_trusts`, {
      method: 'PUT',
      body: JSON.stringify({ provider, issuer: ISSUER, jwks }),
    });

  it('are taken by Google Cloud', async () => {
    const jwks = { keys: [KEY, { ...KEY, kid: 'two' }] };
    expect(await (await upload('GCP', jwks)).json()).toMatchObject({ issuer: ISSUER, jwks });
    expect(await (await fetch(`${simulator.url}/_trusts`)).json()).toMatchObject([{ jwks }]);
  });

  it.each<[string, string, unknown, string]>([
    ['AWS, which fetches them', 'AWS', { keys: [KEY] }, 'AWS fetches keys'],
    ['Azure, which fetches them', 'AZURE', { keys: [KEY] }, 'AZURE fetches keys'],
    ['Google Cloud as a text', 'GCP', JSON.stringify({ keys: [KEY] }), 'jwks must be an object'],
    ['Google Cloud without keys', 'GCP', { keys: [] }, 'a list of keys'],
    ['Google Cloud with a certificate', 'GCP', { keys: [{ ...KEY, x5c: ['x'] }] }, 'has x5c'],
    ['Google Cloud with a private key', 'GCP', { keys: [KEY, { ...KEY, d: 'AQAB' }] }, 'has d'],
    ['Google Cloud with a shared secret', 'GCP', { keys: [{ ...KEY, kty: 'oct' }] }, 'RSA, EC'],
  ])('are refused by %s', async (_, provider, jwks, words) => {
    const response = await upload(provider, jwks);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      field: 'jwks',
      message: expect.stringContaining(words) as string,
    });
  });
});
