import { KeyObject, sign } from 'node:crypto';
import type { IssuerKey, OidcIssuer } from '../../harness/issuers/oidc-issuer';
import { jobClaims } from './oidc';

/** What forgeries are made with. */
export interface ForgeryBench {
  readonly issuer: OidcIssuer;
  /** an issuer that the operator allows, and no trust names */
  readonly other: OidcIssuer;
  /** of the attacker */
  readonly key: IssuerKey;
  readonly audience: string;
  /** of another organization */
  readonly foreignAudience: string;
  /** a token that was exchanged */
  readonly used: string;
}

export type MakeToken = (bench: ForgeryBench) => Promise<string>;

/** A forged token. `claim`: what the first failed check names. */
export type Forgery = readonly [name: string, claim: string, make: MakeToken];

/** Forged tokens of which the same check fails first, by what they are. */
export const failing = (claim: string, tokens: Readonly<Record<string, MakeToken>>): readonly Forgery[] =>
  Object.entries(tokens).map(([name, make]) => [name, claim, make] as const);

export type Changes = Readonly<Record<string, unknown>>;

export const coded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs any header and payload: libraries refuse most of these. @param hash null: EdDSA */
export function raw(
  header: unknown,
  payload: unknown,
  { privateKey }: IssuerKey,
  hash: string | null = 'sha256',
): string {
  const content = `${coded(header)}.${coded(payload)}`;
  const key = { key: KeyObject.from(privateKey), dsaEncoding: 'ieee-p1363' as const };
  return `${content}.${sign(hash, Buffer.from(content), key).toString('base64url')}`;
}

export const RSA = { alg: 'RS256', kid: 'rsa', typ: 'JWT' };
export const claimsOf = (
  { issuer, audience }: ForgeryBench,
  changes: Changes = {},
): Record<string, unknown> => ({
  ...jobClaims(issuer, audience),
  ...changes,
});
