/** A text that is no address of a server; the message continues a sentence that names the text's origin. */
export class InvalidServerUrl extends Error {
  override readonly name = 'InvalidServerUrl';
}

/**
 * The address of a server as clients use it: without a slash at the end and without `/api/v1`.
 * @throws InvalidServerUrl
 */
export function parseServerUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidServerUrl('must be an address like https://drawbridge.example.com');
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidServerUrl('must hold no user name or password');
  }
  return url.origin + url.pathname.replace(/(?:\/api\/v1)?\/?$/, '');
}

/** Whether what is sent there can be read on the way. */
export function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
