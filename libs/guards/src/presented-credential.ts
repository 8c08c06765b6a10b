import type { IncomingHttpHeaders } from 'node:http';

/** The database knows it by its hash. */
export interface PresentedSecret {
  readonly kind: 'key' | 'session';
  readonly text: string;
}

export type PresentedCredential =
  | PresentedSecret
  | { readonly kind: 'bearer'; readonly text: string }
  | { readonly kind: 'none' };

/** The credential of a request. A bearer token or a session token takes precedence over a key. */
export function presentedCredential(headers: IncomingHttpHeaders): PresentedCredential {
  const { scheme, value } = schemeAndValue(headers.authorization ?? '');
  if (scheme === 'bearer') return { kind: 'bearer', text: value };
  if (scheme === 'session') return { kind: 'session', text: value };
  const header = headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return { kind: 'key', text: header.trim() };
  if (scheme === 'apikey') return { kind: 'key', text: value };
  return { kind: 'none' };
}

/** Splits at the first blank. A single regular expression would backtrack over blanks. */
function schemeAndValue(header: string): { readonly scheme: string; readonly value: string } {
  const text = header.trim();
  const blank = text.search(/\s/);
  if (blank < 0) return { scheme: text.toLowerCase(), value: '' };
  return { scheme: text.slice(0, blank).toLowerCase(), value: text.slice(blank).trim() };
}
