const header = (description: string, example: string | number): object => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
});

/** Response headers, defined once in the document's components. */
export const HEADERS = {
  'X-Request-Id': header(
    'identifies the request in the service’s log; the value the caller sent, if any',
    '0b6f9a52-8f5d-4f0e-8a55-2f0d6a1f9c11',
  ),
  'X-RateLimit-Limit': header('requests in a window: of a credential from one address, or of an address', 60),
  'X-RateLimit-Remaining': header('requests left in this window', 59),
  'X-RateLimit-Reset': header('seconds until the window ends', 60),
  'Retry-After': header('seconds to wait before trying again', 17),
  'WWW-Authenticate': header('the authentication scheme', 'Bearer'),
  'X-Total-Count': header('how many items there are on all pages', 42),
  'Set-Cookie': header(
    'when the refresh token goes into the cookie: `__Host-drawbridge`, or `drawbridge` where PUBLIC_URL is http',
    '__Host-drawbridge=pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure',
  ),
  Location: header('where a browser goes next', 'https://login.example.com/authorize?client_id=drawbridge'),
  Link: header(
    'the adjacent pages (RFC 8288): rel="prev" and rel="next" if they exist',
    '</api/v1/sessions?page=1&size=20>; rel="next"',
  ),
};

export type HeaderName = keyof typeof HEADERS;

/** A header by its name, as an entry of a response's headers. */
export const reference = (name: HeaderName): [HeaderName, { $ref: string }] => [
  name,
  { $ref: `#/components/headers/${name}` },
];

export interface AnswerTraits {
  readonly status: number;
  /** the rate limiter counts the route */
  readonly counted: boolean;
  /** the body is a paginated array */
  readonly paged: boolean;
}

/** The headers of a response, as references. */
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
