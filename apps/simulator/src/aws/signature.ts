import { Sha256 } from '@aws-crypto/sha256-js';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { CloudError } from '../cloud-error';
import type { CloudRequest } from '../provider';
import { awsError, incompleteSignature, notValidated, unauthenticated } from './aws-error';
import type { Caller, Credentials } from './credentials';

export interface SignedCall {
  readonly caller: Caller;
  readonly region: string;
}

const MAX_SKEW_MS = 5 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const REQUIRED_HEADERS = ['host', 'x-amz-date'];

/** A service's errors for signatures. */
interface Refusals {
  readonly unknownKey: () => CloudError;
  readonly mismatch: () => CloudError;
  readonly expiredToken: () => CloudError;
  readonly skewed: () => CloudError;
}

/** STS's error for an unknown key. */
export const unknownKey = (): CloudError =>
  awsError('InvalidClientTokenId', 'The security token included in the request is invalid.', 403);

const expiredRequest = (): CloudError => awsError('RequestExpired', 'Request has expired.');

/** The services that are simulated. */
export type AwsService = 'ec2' | 'sts' | 'eks' | 'organizations' | 'wafv2';

/** Of the JSON services. */
const JSON_REFUSALS: Refusals = {
  unknownKey: () =>
    awsError('UnrecognizedClientException', 'The security token included in the request is invalid.', 403),
  mismatch: () =>
    awsError('InvalidSignatureException', 'The request signature we calculated does not match.', 403),
  expiredToken: () =>
    awsError('ExpiredTokenException', 'The security token included in the request is expired', 403),
  skewed: () => awsError('InvalidSignatureException', 'Signature expired.', 403),
};

const REFUSALS: Readonly<Record<AwsService, Refusals>> = {
  ec2: {
    unknownKey: notValidated,
    mismatch: notValidated,
    expiredToken: expiredRequest,
    skewed: expiredRequest,
  },
  sts: {
    unknownKey,
    mismatch: () =>
      awsError(
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided. ' +
          'Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
        403,
      ),
    expiredToken: () =>
      awsError('ExpiredToken', 'The security token included in the request is expired', 403),
    skewed: () => awsError('SignatureDoesNotMatch', 'Signature not yet current, or expired.', 403),
  },
  eks: JSON_REFUSALS,
  organizations: JSON_REFUSALS,
  wafv2: JSON_REFUSALS,
};

/**
 * Checks the Signature Version 4 in the `Authorization` header by computing it again.
 * @param service the service in the credential's scope
 * @returns the caller and the region of the scope
 * @throws CloudError
 */
export async function checkSignature(
  request: CloudRequest,
  service: AwsService,
  credentials: Credentials,
): Promise<SignedCall> {
  const refusals = REFUSALS[service];
  const header = request.headers.authorization;
  if (header === undefined) throw unauthenticated();
  const [, accessKeyId, day, region, scope, names, signature] = AUTHORIZATION.exec(header) ?? [];
  const signedAt = readAmzDate(request.headers['x-amz-date']);
  if (!accessKeyId || !region || !names || !signature || !signedAt) throw incompleteSignature();
  const signedHeaders = names.split(';');
  if (REQUIRED_HEADERS.some((name) => !signedHeaders.includes(name))) throw incompleteSignature();

  const caller = credentials.find(accessKeyId, region, joined(request.headers['x-amz-security-token']));
  if (caller === 'unknown') throw refusals.unknownKey();
  if (caller === 'expired') throw refusals.expiredToken();
  if (Math.abs(signedAt.getTime() - Date.now()) > MAX_SKEW_MS) throw refusals.skewed();
  const signing = { caller, accessKeyId, region, service, signedHeaders, signedAt };
  const isInScope = scope === service && day === isoDay(signedAt);
  if (!isInScope || (await computeSignature(request, signing)) !== signature) throw refusals.mismatch();
  return { caller, region };
}

/** The id of the key that a request claims to be signed with. */
export const claimedKey = ({ headers }: CloudRequest): string | undefined =>
  AUTHORIZATION.exec(headers.authorization ?? '')?.[1];

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
