/** Pages whose path contains a secret token. */
const SECRET_PAGES = 'billing/sandbox|accept-invitation|reset-password';
/** The canonical path: page, secret, optional action. */
const CANONICAL = new RegExp(`^(/(?:${SECRET_PAGES})/)[^/]+(/[a-z]{1,20})?$`, 'i');
const CONTAINS_PAGE = new RegExp(`(${SECRET_PAGES})/.`);
/** Tokens have at least 43 characters. */
const MIN_TOKEN_LENGTH = 32;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Nested percent-encodings. */
const MAX_DECODINGS = 3;
const HIDDEN = '…';

/**
 * A request's path for logs: without the query, without everything after the name of a page with a secret (in any
 * spelling), and without segments that are as long as a token.
 */
export function loggedPath(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  const [, page, action = ''] = CANONICAL.exec(path) ?? [];
  if (page !== undefined) return `${page}${HIDDEN}${action}`;
  const [, pageName] = CONTAINS_PAGE.exec(normalize(path)) ?? [];
  return pageName === undefined ? path.split('/').map(withoutToken).join('/') : `/${pageName}/${HIDDEN}`;
}

const withoutToken = (segment: string): string =>
  segment.length >= MIN_TOKEN_LENGTH && !UUID.test(segment) ? HIDDEN : segment;

/** In lower case, decoded, with single slashes. */
function normalize(path: string): string {
  let decoded = path;
  for (let times = 0; times < MAX_DECODINGS; times += 1) {
    decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return decoded
    .toLowerCase()
    .split(/[/\\]/)
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
