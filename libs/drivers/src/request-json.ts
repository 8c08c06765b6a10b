import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { noResponse, unexpectedResponse, type CallFailure } from './call-failure';
import { egressAgents } from './egress';
import { isRecord, parseJson } from './untrusted-json';

/** An unsuccessful HTTP response. */
export interface Refusal {
  readonly status: number;
  /** parsed JSON; undefined when it is not JSON */
  readonly body: unknown;
  readonly header: (name: string) => string | null | undefined;
}

/** Classifies an unsuccessful response. @param secrets masked in the message */
export type ReadRefusal = (refusal: Refusal, secrets: readonly string[]) => CallFailure;

/** A cloud's API: its name in messages, and how it refuses a call. */
export interface JsonApi {
  readonly cloud: string;
  readonly refusalOf: ReadRefusal;
}

export interface JsonRequest {
  /** for error messages */
  readonly operation: string;
  readonly url: string;
  /** by default POST with a body, and GET without one */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
  /** what it proves itself with: masked in error messages */
  readonly secrets: readonly string[];
  /** a successful response may have no body, which is read as `{}` */
  readonly mayBeEmpty?: true;
}

export interface JsonAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A page of 500 firewall rules with 256 ranges each is much smaller. */
const MAX_RESPONSE_BYTES = 8_000_000;

/**
 * One HTTP request without retries, limited in time and size. Follows no redirects: what it proves itself with is for this
 * host only.
 * @param timeoutMs from the start to the last byte of the response
 * @returns the response's JSON object
 * @throws CallFailure for any other response
 */
export async function requestJson(
  { cloud, refusalOf }: JsonApi,
  request: JsonRequest,
  timeoutMs: number,
): Promise<JsonAnswer> {
  const { operation, secrets, mayBeEmpty } = request;
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  const { status, headers, text } = await exchange(request, signal).catch((error: unknown) => {
    throw noResponse(cloud, signal.aborted ? signal.reason : error, secrets);
  });
  const body = text === '' && mayBeEmpty ? {} : text === null ? undefined : parseJson(text);
  const header = (name: string): string | undefined => headers[name]?.toString();
  if (status < 200 || status > 299) throw refusalOf({ status, body, header }, secrets);
  if (text === null || !isRecord(body)) throw unexpectedResponse(cloud, operation);
  return { status, header, body, text };
}

interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** null: it is too long */
  readonly text: string | null;
}

/** Sends the request through the egress, and reads the response up to a limit. */
function exchange(
  { url, method, headers, body: sent }: JsonRequest,
  signal: AbortSignal,
): Promise<Exchanged> {
  const isSecure = url.startsWith('https:');
  const body = sent?.toString();
  const options = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    agent: egressAgents()[isSecure ? 'https' : 'http'],
    headers: {
      accept: 'application/json',
      'user-agent': 'drawbridge',
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      ...(sent instanceof URLSearchParams && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, options);
    request.once('error', reject);
    request.once('response', (response) => {
      const { statusCode: status = 0, headers: received } = response;
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= MAX_RESPONSE_BYTES) return;
        resolve({ status, headers: received, text: null });
        response.destroy();
      });
      response.once('error', reject);
      response.once('close', () => reject(new Error('The answer ended early')));
      response.once('end', () =>
        resolve({ status, headers: received, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    request.end(body);
  });
}
