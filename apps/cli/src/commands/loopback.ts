import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandFailure, EXIT } from '../exit-codes';
import type { Output } from '../output';

/** As long as the server waits for the issuer. */
const TIMEOUT_MS = 600_000;
const MAX_MESSAGE = 300;

/** What opens an address in the browser. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Whether the user sits before a browser of this machine. */
export const hasBrowser = ({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean =>
  process.platform in OPENERS ? !SSH_CONNECTION : Boolean(DISPLAY || WAYLAND_DISPLAY);

/**
 * Opens the browser, and waits until the sign-in there returns to a port that is open for that long.
 * @param addressFor the address that returns to a port
 * @returns the one-time code. @throws CommandFailure for another end of the sign-in
 */
export async function codeFromBrowser(addressFor: (port: string) => string, output: Output): Promise<string> {
  const server = createServer();
  const returned = new Promise<URLSearchParams>((done) => {
    server.on('request', (request, response) => {
      const query = returnedTo(request);
      answer(response, query);
      if (query) done(query);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((done) => (timer = setTimeout(() => done(null), TIMEOUT_MS)));
  try {
    const address = addressFor(String((server.address() as AddressInfo).port));
    process.stderr.write(
      `Sign in with the browser. If it does not open, open this address on this machine:\n\n${address}\n\n`,
    );
    openBrowser(address, output);
    return codeIn(await output.mentionWait('for the sign-in in the browser', Promise.race([returned, late])));
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
  }
}

/** @returns null for anything but a browser that was sent here: other pages may try ports */
function returnedTo({ method, url = '', headers }: IncomingMessage): URLSearchParams | null {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const isPage = (headers['sec-fetch-dest'] ?? 'document') === 'document';
  const isAnswer = searchParams.has('code') || searchParams.has('error');
  return method === 'GET' && pathname === '/callback' && isPage && isAnswer ? searchParams : null;
}

function answer(response: ServerResponse, query: URLSearchParams | null): void {
  const text = query ? 'Go back to the terminal. You can close this page.' : 'There is nothing here.';
  response
    .writeHead(query ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      connection: 'close',
    })
    .end(`<!doctype html><html lang="en"><title>Drawbridge</title><p>${text}</p></html>\n`);
}

function codeIn(query: URLSearchParams | null): string {
  if (query === null)
    throw new CommandFailure(EXIT.denied, 'There was no sign-in within ten minutes', 'begin again');
  const code = query.get('code');
  if (code !== null) return code;
  const message = query.get('message') ?? 'The sign-in did not succeed';
  throw new CommandFailure(EXIT.denied, message.slice(0, MAX_MESSAGE));
}

function openBrowser(address: string, output: Output): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.once('error', (error) => output.note(`the browser does not open (${error.message})`));
  child.unref();
}
