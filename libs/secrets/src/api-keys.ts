import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { opaqueTokenHash } from './opaque-tokens';

const PREFIX = 'dbk_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHOWN_LENGTH = PREFIX.length + 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^${PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);
/** the largest multiple of 62 in a byte: bytes from here on would bias the choice of characters */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

export interface NewApiKey {
  /** shown once, never stored */
  readonly plainText: string;
  /** the beginning, to distinguish keys in a list */
  readonly prefix: string;
  readonly hash: string;
}

/** Generates a key: `dbk_`, 30 random characters (178 bits), 6 characters of checksum. */
export function newApiKey(): NewApiKey {
  const random = randomText(RANDOM_LENGTH);
  const plainText = PREFIX + random + checksum(random);
  return { plainText, prefix: plainText.slice(0, SHOWN_LENGTH), hash: opaqueTokenHash(plainText) };
}

/**
 * The hash by which a key is stored and looked up.
 * @returns null when the text cannot be a key: with a wrong prefix, length or checksum no look-up is needed
 */
export function apiKeyHash(plainText: string): string | null {
  const [, random, sum] = FORM.exec(plainText) ?? [];
  return random !== undefined && checksum(random) === sum ? opaqueTokenHash(plainText) : null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < FAIR_BYTES) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}
