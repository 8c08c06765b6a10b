/** Headers of answers, kept once among the document's components. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'names the request in the service’s log; the caller’s own when it sent one',
    schema: { type: 'string' },
    example: '0b6f9a52-8f5d-4f0e-8a55-2f0d6a1f9c11',
  },
  'X-RateLimit-Limit': {
    description: 'requests an address may send in a window',
    schema: { type: 'integer' },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'requests left in this window',
    schema: { type: 'integer' },
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'seconds until the window ends',
    schema: { type: 'integer' },
    example: 60,
  },
  'Retry-After': {
    description: 'seconds to wait before trying again',
    schema: { type: 'integer' },
    example: 17,
  },
  'WWW-Authenticate': {
    description: 'how to sign in',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'X-Total-Count': {
    description: 'how many items there are on all pages',
    schema: { type: 'integer' },
    example: 42,
  },
  Link: {
    description: 'the pages beside this one (RFC 8288): rel="prev" and rel="next" where there are any',
    schema: { type: 'string' },
    example: '</api/v1/sessions?page=1&size=20>; rel="next"',
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

const reference = (name: HeaderName): [HeaderName, { $ref: string }] => [
  name,
  { $ref: `#/components/headers/${name}` },
];

export interface AnswerTraits {
  readonly status: number;
  /** the rate limiter counts the route */
  readonly counted: boolean;
  /** a plain array in pages */
  readonly paged: boolean;
}

/** The headers an answer carries, as references. */
export function headersOf({ status, counted, paged }: AnswerTraits): Record<string, { $ref: string }> {
  const names: HeaderName[] = [
    'X-Request-Id',
    ...(counted ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const) : []),
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
    ...(status === 200 && paged ? (['X-Total-Count', 'Link'] as const) : []),
  ];
  return Object.fromEntries(names.map(reference));
}
