import { CommandFailure, EXIT } from '../exit-codes';

/** The address of a server as it is stored: without a slash at the end and without `/api/v1`. @throws CommandFailure */
export function serverUrl(given: string, where: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CommandFailure(
      EXIT.usage,
      `${where} must be an address like https://drawbridge.example.com`,
      `it is "${given.slice(0, 200)}"`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new CommandFailure(EXIT.usage, `${where} must hold no user name or password`, 'drawbridge login');
  }
  return url.origin + url.pathname.replace(/(?:\/api\/v1)?\/?$/, '');
}

/** Whether what is sent there can be read on the way. */
export function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
