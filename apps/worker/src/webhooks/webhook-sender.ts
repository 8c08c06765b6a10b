import { Webhook } from 'standardwebhooks';
import { connectionProblem } from '#config';
import {
  ForbiddenHost,
  PinnedConnection,
  readRetryAfter,
  readTenantUrl,
  type TenantHosts,
  type TenantUrl,
} from '#drivers';
import { type MasterKeys, openCredential } from '#secrets';
import type { LeasedWebhook, FeedRecord } from '#tenant-store';
import { bodyOf } from './messages';

/** For the resolution of the name, the connection and the answer together. */
const TIMEOUT_MS = 10_000;
/** Of an answer, of which nothing but the status is used. */
const MAX_BYTES = 65_536;

export interface Answer {
  /** null: there was none */
  readonly code: number | null;
  /** null: the record was accepted */
  readonly error: string | null;
  readonly retryAfterMs: number | null;
}

const noAnswer = (error: string): Answer => ({ code: null, error, retryAfterMs: null });

/** A webhook with its opened secrets. */
export class WebhookReceiver {
  private readonly url: TenantUrl | null;
  private readonly authorization: string | undefined;
  /** the one before the last rotation signs, too, while receivers change theirs */
  private readonly signers: readonly Webhook[];

  /** @throws SealBrokenError */
  constructor(
    private readonly webhook: LeasedWebhook,
    masterKeys: MasterKeys,
    private readonly hosts: TenantHosts,
    private readonly publicUrl: string | undefined,
  ) {
    const { secret, formerSecret, url, authorization } = openCredential(masterKeys, webhook);
    this.authorization = authorization;
    this.url = readTenantUrl(url ?? '', 'whole');
    const secrets = [secret, webhook.hasFormerSecret ? formerSecret : undefined];
    this.signers = secrets.flatMap((text) => (text === undefined ? [] : [new Webhook(text)]));
  }

  /** Sends a record. Its host is resolved and checked each time. @param stopping aborts the attempt */
  async send(record: FeedRecord, stopping: AbortSignal): Promise<Answer> {
    if (!this.url) return noAnswer('the URL is not allowed');
    // of our own: signals that are combined with a timeout may be collected before it, and then never abort
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    const timer = setTimeout(abort, TIMEOUT_MS);
    stopping.addEventListener('abort', abort);
    let connection: PinnedConnection | undefined;
    try {
      connection = await PinnedConnection.open(this.url, this.hosts, attempt.signal, MAX_BYTES);
      const body = bodyOf(this.webhook.format, record, this.publicUrl);
      const { status, headers } = await connection.request({
        method: 'POST',
        path: '',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'drawbridge',
          ...(this.authorization !== undefined && { authorization: this.authorization }),
          ...this.signed(record, body),
        },
        body,
      });
      const isAccepted = status >= 200 && status < 300;
      const retryAfterMs = readRetryAfter(headers['retry-after']);
      return { code: status, error: isAccepted ? null : `it answered ${status}`, retryAfterMs };
    } catch (error) {
      if (error instanceof ForbiddenHost)
        return noAnswer('it leads to an address that this deployment lets no webhook lead to');
      const problem = connectionProblem(error);
      if (problem !== null) return noAnswer(problem);
      return noAnswer('it did not answer, or not within the limits of 10 seconds and 64 kB');
    } finally {
      clearTimeout(timer);
      stopping.removeEventListener('abort', abort);
      connection?.close();
    }
  }

  private signed({ id }: FeedRecord, body: string): Record<string, string> {
    const now = new Date();
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': this.signers.map((signer) => signer.sign(id, now, body)).join(' '),
    };
  }
}
