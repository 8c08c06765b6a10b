/** Pages whose address goes on with a secret: whoever knows it may press their buttons. */
const SECRET_PAGES = 'billing/sandbox|accept-invitation|reset-password';
/** As the page is served: the secret, and what is pressed. */
const SERVED = new RegExp(`^(/(?:${SECRET_PAGES})/)[^/]+(/[a-z]{1,20})?$`, 'i');
const NAMED = new RegExp(`(${SECRET_PAGES})/.`);
/** The shortest token has 43 characters. */
const MIN_TOKEN = 32;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Of encodings within each other. */
const MAX_DECODINGS = 3;
const HIDDEN = '…';

/**
 * A request's path as logs may hold it: without its query, without what follows the name of a page with secrets, however
 * that is spelled, and without any part that is as long as a token.
 */
export function loggedPath(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  const [, page, pressed = ''] = SERVED.exec(path) ?? [];
  if (page !== undefined) return `${page}${HIDDEN}${pressed}`;
  const [, named] = NAMED.exec(plainly(path)) ?? [];
  return named === undefined ? path.split('/').map(withoutToken).join('/') : `/${named}/${HIDDEN}`;
}

const withoutToken = (part: string): string => (part.length >= MIN_TOKEN && !UUID.test(part) ? HIDDEN : part);

/** In lower case, decoded, with single slashes. */
function plainly(path: string): string {
  let plain = path;
  for (let times = 0; times < MAX_DECODINGS; times += 1) {
    plain = plain.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return plain
    .toLowerCase()
    .split(/[/\\]/)
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
