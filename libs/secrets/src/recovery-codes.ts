import { randomInt } from 'node:crypto';
import { opaqueTokenHash } from './opaque-tokens';

/** Crockford's base32: no letter looks like a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

const group = (): string =>
  Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** A code to keep on paper, `x7k2-9qmp-…`: 80 random bits, so that it cannot be guessed from its hash. */
export const newRecoveryCode = (): string => Array.from({ length: GROUPS }, group).join('-');

/** The hash by which a recovery code is stored and looked up, independent of case, blanks and look-alike letters. */
export const recoveryCodeHash = (code: string): string =>
  opaqueTokenHash(code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1'));
