import { Logger } from '@nestjs/common';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { UnreadableKeys, type IssuerDocuments, type PublishedKey } from './issuer-documents';

/** The algorithms of ID tokens, with the type of their keys. No shared secrets, no `none`. */
const KEY_TYPES: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
};
export const ALGORITHMS: readonly string[] = Object.keys(KEY_TYPES);
/** A private member is never used, even if an issuer publishes one. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'n', 'e', 'x', 'y'] as const;

const FRESH_MS = 600_000;
/** How long keys are used while the issuer does not answer. */
const USABLE_MS = 3_600_000;
/** Unknown key ids are the sender's choice: they must not make this process ask the issuer again and again. */
const UNKNOWN_KEY_PAUSE_MS = 30_000;
const FAILURE_PAUSE_MS = 5000;
const MAX_ISSUERS = 100;
const MIN_RSA_BITS = 2048;

/** What is known of one issuer. Times are in milliseconds of the clock; -Infinity: never. */
interface Known {
  keys: readonly PublishedKey[];
  readAt: number;
  failedAt: number;
  failure: string;
  unknownKeyAt: number;
  reading: Promise<void> | null;
}

/** Which key verifies a token. */
export interface KeyName {
  /** undefined: the only key of the issuer */
  readonly kid: string | undefined;
  readonly alg: string;
}

/**
 * The public keys of issuers, used for ten minutes, and for an hour while the issuer does not answer. An unknown key id
 * makes it read them again, at most every 30 seconds.
 */
export class IssuerKeys {
  private readonly logger = new Logger('OIDC');
  private readonly issuers = new LRUCache<string, Known>({ max: MAX_ISSUERS });
  private readonly ready = new WeakMap<PublishedKey, Promise<CryptoKey>>();

  /** @param now milliseconds; never goes back */
  constructor(
    private readonly documents: Pick<IssuerDocuments, 'keysOf'>,
    private readonly now: () => number,
  ) {}

  /** @returns null when the issuer has no such key. @throws UnreadableKeys, also for a key that cannot be used */
  async find(issuer: string, name: KeyName): Promise<CryptoKey | null> {
    const known = this.knownOf(issuer);
    if (this.now() - known.readAt >= FRESH_MS) await this.renew(issuer, known);
    let key = keyNamed(known.keys, name);
    if (!key && this.now() - known.unknownKeyAt >= UNKNOWN_KEY_PAUSE_MS) {
      known.unknownKeyAt = this.now();
      await this.renew(issuer, known);
      key = keyNamed(known.keys, name);
    }
    return key ? this.importKey(key, name.alg) : null;
  }

  private knownOf(issuer: string): Known {
    const never = -Infinity;
    const known: Known = this.issuers.get(issuer) ?? {
      keys: [],
      readAt: never,
      failedAt: never,
      failure: '',
      unknownKeyAt: never,
      reading: null,
    };
    this.issuers.set(issuer, known);
    return known;
  }

  /** @throws UnreadableKeys when they cannot be read, and those that are known are too old */
  private async renew(issuer: string, known: Known): Promise<void> {
    if (this.now() - known.failedAt >= FAILURE_PAUSE_MS) {
      known.reading ??= this.read(issuer, known).finally(() => (known.reading = null));
      await known.reading;
    }
    if (this.now() - known.readAt >= USABLE_MS) throw new UnreadableKeys(known.failure);
  }

  /** Keeps the keys that are known when the issuer does not answer. */
  private async read(issuer: string, known: Known): Promise<void> {
    try {
      known.keys = await this.documents.keysOf(issuer);
      known.readAt = this.now();
    } catch (error) {
      if (!(error instanceof UnreadableKeys)) throw error;
      known.failedAt = this.now();
      known.failure = error.message;
      this.logger.warn({ msg: 'The keys of an issuer cannot be read', issuer, reason: error.message });
    }
  }

  private importKey(key: PublishedKey, alg: string): Promise<CryptoKey> {
    const ready = this.ready.get(key) ?? publicKeyOf(key, alg);
    this.ready.set(key, ready);
    return ready;
  }
}

/** @throws UnreadableKeys when it is malformed or too weak */
async function publicKeyOf(published: PublishedKey, alg: string): Promise<CryptoKey> {
  const members = Object.fromEntries(PUBLIC_MEMBERS.map((member) => [member, published[member]]));
  let key: CryptoKey;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- jose checks the members; asymmetric keys are CryptoKeys
    key = (await importJWK(members as JWK, alg)) as CryptoKey;
  } catch (error) {
    throw new UnreadableKeys('the key that the token names is malformed', { cause: error });
  }
  const { modulusLength = MIN_RSA_BITS } = key.algorithm as { modulusLength?: number };
  if (modulusLength < MIN_RSA_BITS) throw new UnreadableKeys('the key that the token names is too short');
  return key;
}

/**
 * Two keys with one id are no name of a key, unless they are the same one twice. In a set without ids the only key that fits is
 * meant.
 */
function keyNamed(published: readonly PublishedKey[], { kid, alg }: KeyName): PublishedKey | undefined {
  const type = KEY_TYPES[alg];
  if (!type) return undefined;
  const keys = [...new Map(published.map((key) => [formOf(key), key])).values()];
  const fitting = keys.filter(
    (key) =>
      key['kty'] === type.kty &&
      (type.crv === undefined || key['crv'] === type.crv) &&
      (key['use'] ?? 'sig') === 'sig' &&
      (key['alg'] ?? alg) === alg,
  );
  const isNamed = keys.some((key) => key['kid'] !== undefined);
  const named = fitting.filter((key) => key['kid'] === (isNamed ? kid : undefined));
  const found = kid === undefined ? (keys.length === 1 ? fitting : []) : named;
  return found.length === 1 ? found[0] : undefined;
}

const formOf = (key: PublishedKey): string =>
  JSON.stringify(['kid', 'alg', 'use', ...PUBLIC_MEMBERS].map((member) => key[member]));
