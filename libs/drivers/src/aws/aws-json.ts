import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import { CallFailure } from '../call-failure';
import type { CallToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { requestJson, type JsonAnswer, type Refusal } from '../request-json';
import { isRecord } from '../untrusted-json';
import type { AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';

/** Host names by partition; the SDK knows them for the services that have a client. */
const SUFFIXES: Readonly<Record<string, string>> = {
  aws: 'amazonaws.com',
  'aws-cn': 'amazonaws.com.cn',
  'aws-us-gov': 'amazonaws.com',
};

/** Where a service is. */
export interface AwsService {
  /** of the signature and of the host name */
  readonly name: string;
  readonly region: string;
  readonly partition: string;
  /** another endpoint; undefined: AWS's own */
  readonly endpoint: string | undefined;
}

export interface AwsCall {
  /** for error messages */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** A JSON service of AWS, called with signed requests: two calls need no client of their own. */
export class AwsJson {
  private readonly url: URL;

  /** @throws DriverError `invalid` for a partition whose host names are not known */
  constructor(
    private readonly service: AwsService,
    private readonly keys: CallToken<AwsKeys>,
    private readonly callTimeoutMs: number,
  ) {
    const suffix = SUFFIXES[service.partition];
    if (suffix === undefined && service.endpoint === undefined)
      throw new DriverError(
        'invalid',
        `${service.name} of the partition ${service.partition} is not supported`,
      );
    this.url = new URL(service.endpoint ?? `https://${service.name}.${service.region}.${suffix}`);
  }

  /** @throws CallFailure */
  call(call: AwsCall): Promise<JsonAnswer> {
    return this.keys.use((keys) => this.send(keys, call));
  }

  private async send(
    keys: AwsKeys,
    { operation, method, path, headers, body }: AwsCall,
  ): Promise<JsonAnswer> {
    const { secretAccessKey, sessionToken = '' } = keys;
    const text = body && JSON.stringify(body);
    const base = this.url.pathname.replace(/\/$/, '');
    const request = new HttpRequest({
      method,
      protocol: this.url.protocol,
      hostname: this.url.hostname,
      ...(this.url.port !== '' && { port: Number(this.url.port) }),
      path: `${base}${path}`,
      headers: {
        host: this.url.host,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    });
    const signer = new SignatureV4({
      service: this.service.name,
      region: this.service.region,
      sha256: Sha256,
      credentials: keys,
    });
    const signed = await signer.sign(request);
    return requestJson(
      { cloud: 'AWS', refusalOf },
      {
        operation,
        url: `${this.url.origin}${base}${path}`,
        method,
        headers: signed.headers,
        ...(text !== undefined && { body: text }),
        secrets: [secretAccessKey, sessionToken],
      },
      this.callTimeoutMs,
    );
  }
}

/** The error's name is in a header of REST services, and in the body of others, there with a namespace. */
function refusalOf({ status, body, header }: Refusal, secrets: readonly string[]): CallFailure {
  const { __type: type, message, Message } = isRecord(body) ? body : {};
  const words = message ?? Message;
  const named = header('x-amzn-errortype') ?? (typeof type === 'string' ? type : undefined);
  const name = named?.split(':')[0]?.split('#').at(-1);
  return toFailure(
    {
      ...(name !== undefined && { name, $fault: 'client' }),
      message: typeof words === 'string' ? words : '',
      $metadata: { httpStatusCode: status },
      $response: { headers: { 'retry-after': header('retry-after') ?? '' } },
    },
    secrets,
  );
}
