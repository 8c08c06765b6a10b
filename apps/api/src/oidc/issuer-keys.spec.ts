import { Logger } from '@nestjs/common';
import { exportJWK, generateKeyPair } from 'jose';
import { UnreadableKeys, type PublishedKey } from './issuer-documents';
import { IssuerKeys } from './issuer-keys';

const MINUTE = 60_000;
const ISSUER = 'https://issuer.example.com';

/** An issuer whose keys and failures a test sets, with a clock of its own. */
class Bench {
  at = 0;
  reads = 0;
  isDown = false;
  published: PublishedKey[] = [];
  readonly keys = new IssuerKeys({ keysOf: (issuer) => this.read(issuer) }, () => this.at);

  find(kid = 'one', alg = 'ES256'): Promise<unknown> {
    return this.keys.find(ISSUER, { kid, alg });
  }

  private async read(issuer: string): Promise<PublishedKey[]> {
    if (issuer !== ISSUER) throw new Error('Another issuer was asked');
    this.reads += 1;
    if (this.isDown) throw new UnreadableKeys('it is down');
    return this.published;
  }
}

async function published(kid: string, alg = 'ES256'): Promise<PublishedKey> {
  const { publicKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
}

describe('IssuerKeys', () => {
  let bench: Bench;
  beforeAll(() => void Logger.overrideLogger(false));
  beforeEach(async () => {
    bench = new Bench();
    bench.published = [await published('one')];
  });

  it('reads once in ten minutes, and once for requests at the same time', async () => {
    await Promise.all([bench.find(), bench.find(), bench.find()]);
    bench.at = 10 * MINUTE - 1;
    expect(await bench.find()).not.toBeNull();
    expect(bench.reads).toBe(1);
    bench.at = 10 * MINUTE;
    await bench.find();
    expect(bench.reads).toBe(2);
  });

  it('uses known keys for an hour while the issuer is down, and then none', async () => {
    await bench.find();
    bench.isDown = true;
    bench.at = 60 * MINUTE - 1;
    expect(await bench.find()).not.toBeNull();
    bench.at = 60 * MINUTE;
    await expect(bench.find()).rejects.toThrow('it is down');
    bench.isDown = false;
    bench.at += 5000;
    expect(await bench.find()).not.toBeNull();
  });

  it('asks an issuer that is down at most every five seconds', async () => {
    bench.isDown = true;
    for (bench.at = 0; bench.at < 20_000; bench.at += 100)
      await expect(bench.find()).rejects.toThrow(UnreadableKeys);
    expect(bench.reads).toBe(4);
  });

  it('reads again for an unknown key at most every 30 seconds', async () => {
    await bench.find();
    bench.published = [...bench.published, await published('two')];
    expect(await bench.find('two')).not.toBeNull();
    expect(bench.reads).toBe(2);
    for (bench.at = 1; bench.at < 30_000; bench.at += 1000) expect(await bench.find('three')).toBeNull();
    expect(bench.reads).toBe(2);
    bench.at = 30_000;
    expect(await bench.find('three')).toBeNull();
    expect(bench.reads).toBe(3);
  });

  it.each<[string, object]>([
    ['of another algorithm', { alg: 'ES384' }],
    ['for encryption', { use: 'enc' }],
    ['of another curve', { crv: 'P-384' }],
    ['of another type', { kty: 'oct' }],
    ['with another id', { kid: ['one'] }],
  ])('does not use a key %s', async (_, change) => {
    bench.published = [{ ...bench.published[0]!, ...change }];
    expect(await bench.find()).toBeNull();
  });

  it('does not choose between two keys with one id', async () => {
    bench.published = [...bench.published, await published('one')];
    expect(await bench.find()).toBeNull();
  });

  it('counts a key that is listed twice once', async () => {
    bench.published = [...bench.published, { ...bench.published[0]!, x5t: 'of a certificate' }];
    expect(await bench.find()).not.toBeNull();
  });

  it('finds no key for an algorithm that is not allowed', async () => {
    for (const alg of ['HS256', 'none', 'RS512', 'toString']) expect(await bench.find('one', alg)).toBeNull();
  });

  it('refuses a malformed and a short key', async () => {
    bench.published = [{ kid: 'one', kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }];
    await expect(bench.find()).rejects.toThrow('malformed');
    const n = Buffer.alloc(128, 0xff).toString('base64url');
    bench.published = [{ kid: 'short', kty: 'RSA', n, e: 'AQAB' }];
    bench.at = 30_000;
    await expect(bench.find('short', 'RS256')).rejects.toThrow('too short');
  });

  it('never uses a private member', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    bench.published = [{ ...(await exportJWK(privateKey)), kid: 'one' }];
    expect(await bench.find()).toMatchObject({ type: 'public' });
  });
});
