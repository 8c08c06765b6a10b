import type { IncomingHttpHeaders } from 'node:http';

export type PresentedCredential =
  | { readonly kind: 'bearer'; readonly value: string }
  | { readonly kind: 'key'; readonly plainText: string }
  | { readonly kind: 'none' };

/** What a request brings to prove who sent it. A bearer token wins over a key. */
export function presentedCredential(headers: IncomingHttpHeaders): PresentedCredential {
  const [, scheme = '', value = ''] = /^\s*(\S+)\s*(.*?)\s*$/.exec(headers.authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return { kind: 'bearer', value };
  const header = headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return { kind: 'key', plainText: header.trim() };
  if (scheme.toLowerCase() === 'apikey') return { kind: 'key', plainText: value };
  return { kind: 'none' };
}
