import { Sha256 } from '@aws-crypto/sha256-js';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { CloudRequest } from '../provider';
import type { IssuedTokens } from '../issued-tokens';
import { findCaller, type Caller } from './credentials';

/** Why a signature is refused; each service has its own error for it. */
export type SignatureProblem =
  'unsigned' | 'incomplete' | 'unknown-key' | 'expired-token' | 'skewed' | 'mismatch';

export interface SignedCall {
  readonly caller: Caller;
  readonly accessKeyId: string;
  readonly region: string;
}

const MAX_SKEW_MS = 5 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const REQUIRED_HEADERS = ['host', 'x-amz-date'];

/**
 * Checks the Signature Version 4 in the `Authorization` header by computing it again.
 * @param service the service in the credential's scope
 * @returns the caller and the region of the scope, or the problem
 */
export async function checkSignature(
  request: CloudRequest,
  service: string,
  issued: IssuedTokens,
): Promise<SignedCall | SignatureProblem> {
  const header = request.headers.authorization;
  if (header === undefined) return 'unsigned';
  const [, accessKeyId, day, region, scope, names, signature] = AUTHORIZATION.exec(header) ?? [];
  const signedAt = readAmzDate(request.headers['x-amz-date']);
  if (!accessKeyId || !region || !names || !signature || !signedAt) return 'incomplete';
  const signedHeaders = names.split(';');
  if (REQUIRED_HEADERS.some((name) => !signedHeaders.includes(name))) return 'incomplete';

  const caller = findCaller(accessKeyId, region, joined(request.headers['x-amz-security-token']), issued);
  if (caller === 'unknown') return 'unknown-key';
  if (caller === 'expired') return 'expired-token';
  if (Math.abs(signedAt.getTime() - Date.now()) > MAX_SKEW_MS) return 'skewed';
  if (scope !== service || day !== isoDay(signedAt)) return 'mismatch';
  const expected = await computeSignature(request, {
    caller,
    accessKeyId,
    region,
    service,
    signedHeaders,
    signedAt,
  });
  return expected === signature ? { caller, accessKeyId, region } : 'mismatch';
}

interface Signing {
  readonly caller: Caller;
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signedAt: Date;
}

/** The expected signature. The hash of the body is computed, not taken from a header. */
async function computeSignature(request: CloudRequest, signing: Signing): Promise<string | undefined> {
  const { caller, signedHeaders } = signing;
  const signer = new SignatureV4({
    service: signing.service,
    region: signing.region,
    sha256: Sha256,
    applyChecksum: signedHeaders.includes('x-amz-content-sha256'),
    credentials: {
      accessKeyId: signing.accessKeyId,
      secretAccessKey: caller.secretAccessKey,
      ...(caller.sessionToken === undefined ? {} : { sessionToken: caller.sessionToken }),
    },
  });
  const headers: Record<string, string> = {};
  for (const name of signedHeaders) {
    if (name !== 'x-amz-content-sha256') headers[name] = joined(request.headers[name]) ?? '';
  }
  const signed = await signer.sign(
    new HttpRequest({
      method: request.method,
      path: request.path,
      query: Object.fromEntries(request.query),
      headers,
      body: request.body,
    }),
    { signingDate: signing.signedAt, signableHeaders: new Set(signedHeaders) },
  );
  return /Signature=([0-9a-f]{64})$/.exec(signed.headers['authorization'] ?? '')?.[1];
}

/** `20261121T042756Z` */
function readAmzDate(text: string | string[] | undefined): Date | null {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(joined(text) ?? '') ?? [];
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? null : date;
}

const isoDay = (date: Date): string => date.toISOString().slice(0, 10).replaceAll('-', '');

const joined = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
