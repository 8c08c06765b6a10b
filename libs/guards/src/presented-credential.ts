import type { IncomingHttpHeaders } from 'node:http';

export type PresentedCredential =
  | { readonly kind: 'bearer'; readonly value: string }
  | { readonly kind: 'key'; readonly plainText: string }
  | { readonly kind: 'session'; readonly plainText: string }
  | { readonly kind: 'none' };

/** The credential of a request. A bearer token or a session token takes precedence over a key. */
export function presentedCredential(headers: IncomingHttpHeaders): PresentedCredential {
  const { scheme, value } = schemeAndValue(headers.authorization ?? '');
  if (scheme === 'bearer') return { kind: 'bearer', value };
  if (scheme === 'session') return { kind: 'session', plainText: value };
  const header = headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return { kind: 'key', plainText: header.trim() };
  if (scheme === 'apikey') return { kind: 'key', plainText: value };
  return { kind: 'none' };
}

/** Splits at the first blank. A single regular expression would backtrack over blanks. */
function schemeAndValue(header: string): { readonly scheme: string; readonly value: string } {
  const text = header.trim();
  const blank = text.search(/\s/);
  if (blank < 0) return { scheme: text.toLowerCase(), value: '' };
  return { scheme: text.slice(0, blank).toLowerCase(), value: text.slice(blank).trim() };
}
