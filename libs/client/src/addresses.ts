import type { IncomingMessage, RequestOptions } from 'node:http';
import { monotonicMs, noteServerTime, serverNow } from './clock';
import { NotDrawbridge, unreachable, Unreachable } from './failure';

type Family = 4 | 6;

/** What a server tells a client before its first request. */
export interface Discovery {
  readonly version: string;
  readonly ipv4Url: string | null;
  readonly ipv6Url: string | null;
  /** how far the server's clock is ahead, in milliseconds; null: it sends no time */
  readonly clockAheadMs: number | null;
}

/** The addresses that a server observed, without repetition, per family. Several: connections leave through a pool. */
export interface Observed {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

/** Fresh connections per family to detect a pool of addresses: a hint of it costs little, all of its addresses more. */
export const EGRESS_CONNECTIONS = { hint: 3, pool: 6 } as const;

const TIMEOUT_MS = 5_000;
const MAX_BODY_CHARACTERS = 10_000;

interface Answer {
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Reads JSON over a connection of its own. fetch keeps connections, and chooses the family by itself.
 * @throws Unreachable also for any answer but 200 with JSON
 */
async function read(url: URL, family?: Family): Promise<Answer> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const options: RequestOptions = { agent: false, timeout: TIMEOUT_MS, ...(family ? { family } : {}) };
  const began = monotonicMs();
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unreachable(url.origin, error));
    const asked = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_BODY_CHARACTERS) asked.destroy(new Error('the answer is too long'));
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        noteServerTime(response.headers.date, monotonicMs() - began);
        const answer = `HTTP ${statusCode} at ${url.pathname}`;
        const body = objectIn(text);
        // the API says why it names no address, such as what a proxy forwarded
        const reason = body?.message ?? answer;
        if (statusCode === 429) reject(new DetectionLimited(url.origin, reason));
        else if (body !== undefined && statusCode === 400) reject(new NoAddress(url.origin, reason));
        else if (body !== undefined && statusCode !== 200) fail(new Error(reason));
        else if (statusCode >= 500) fail(new Error(answer));
        else if (body === undefined) reject(new NotDrawbridge(url.origin, `${answer} and no JSON`));
        else resolve({ body, headers: response.headers });
      });
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    asked.on('error', fail);
    asked.end();
  });
}

/** The object of a JSON text; undefined: it is none. */
function objectIn(text: string): { readonly message?: string } | null | undefined {
  try {
    const body = JSON.parse(text) as unknown;
    return typeof body === 'object' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** @param server its address, without `/api/v1` @throws Unreachable */
export async function discover(server: string): Promise<Discovery> {
  const { body, headers } = await read(new URL(`${server}/.well-known/drawbridge`));
  const { version, ipv4Url, ipv6Url } = body as Partial<Discovery>;
  const time = Date.parse(headers.date ?? '');
  return {
    version: version ?? 'unknown',
    ipv4Url: ipv4Url ?? null,
    ipv6Url: ipv6Url ?? null,
    clockAheadMs: Number.isNaN(time) ? null : time - Date.now(),
  };
}

/** The server's time now, which it is asked for. @throws Unreachable */
export async function serverTime(server: string): Promise<number> {
  await discover(server);
  return serverNow();
}

/**
 * Asks over both families which addresses the server observes: at the addresses that the server names for them, else at
 * its own one.
 * @param connections fresh ones per family: behind a pool of addresses, each may leave through another address
 * @throws Unreachable when no family has an answer
 */
export async function observeAddresses(
  server: string,
  { ipv4Url, ipv6Url }: Pick<Discovery, 'ipv4Url' | 'ipv6Url'>,
  connections = 1,
): Promise<Observed> {
  const [ipv4, ipv6] = await Promise.all([
    observeFamily(ipv4Url ?? server, 4, connections),
    observeFamily(ipv6Url ?? server, 6, connections),
  ]);
  if (ipv4.addresses.length + ipv6.addresses.length === 0) {
    throw ipv4.failure ?? ipv6.failure ?? new Unreachable(server, 'it names no address');
  }
  return { ipv4: ipv4.addresses, ipv6: ipv6.addresses };
}

interface FamilyObserved {
  readonly addresses: readonly string[];
  readonly failure: Error | null;
}

/** Too many clients behind this address have asked for it within a minute. */
class DetectionLimited extends Unreachable {
  override readonly name = 'DetectionLimited';
}

/** The server answers, and sees no address that it could allow, as on its own machine. */
export class NoAddress extends Unreachable {
  override readonly name = 'NoAddress';

  constructor(url: string, reason: string) {
    super(url, reason, false);
    this.message = reason;
  }
}

/** What to start with when detection is limited: nothing observed, so that the server allows the caller's own address. */
export function ownAddressWhenLimited(error: unknown): Observed {
  if (error instanceof DetectionLimited) return { ipv4: [], ipv6: [] };
  throw error;
}

/**
 * The first connection decides whether there is this family; further ones are extra, may fail, and are left out when others
 * behind this address have used up a quarter of what it may ask.
 */
async function observeFamily(base: string, family: Family, connections: number): Promise<FamilyObserved> {
  const url = new URL(`${base}/api/v1/detect-ip`);
  try {
    const { address, isScarce } = await observeOnce(url, family);
    if (address === null) return { addresses: [], failure: null };
    const others = await Promise.allSettled(
      Array.from({ length: isScarce ? 0 : connections - 1 }, () => observeOnce(url, family)),
    );
    const more = others.flatMap((other) =>
      other.status === 'fulfilled' && other.value.address ? [other.value.address] : [],
    );
    return { addresses: [...new Set([address, ...more])], failure: null };
  } catch (error) {
    if (error instanceof Unreachable) return { addresses: [], failure: error };
    throw error;
  }
}

interface Observation {
  /** null when the answer is of the other family */
  readonly address: string | null;
  /** fewer than three quarters of the requests of this address are left in their window */
  readonly isScarce: boolean;
}

async function observeOnce(url: URL, family: Family): Promise<Observation> {
  const { body, headers } = await read(url, family);
  const { ip, version } = body as { ip?: string; version?: string };
  const [limit, left] = ['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => Number(headers[name]));
  return {
    address: ip !== undefined && version === `IPv${family}` ? ip : null,
    isScarce: 4 * left! < 3 * limit!,
  };
}
