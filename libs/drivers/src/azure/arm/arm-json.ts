import { asCallFailure, CallFailure } from '../../call-failure';
import type { CallToken } from '../../call-tokens';
import type { Deadline } from '../../deadline';
import { requestJson, type JsonAnswer } from '../../request-json';
import { isRecord } from '../../untrusted-json';
import { lateRefusal, refusalOf, unexpectedResponse } from '../azure-errors';
import { pauseBefore } from '../network-security-group';

export type Json = Readonly<Record<string, unknown>>;

export interface ArmAccess {
  /** without trailing slash */
  readonly endpoint: string;
  readonly token: CallToken<string>;
  readonly clientSecret: string;
  readonly deadline: Deadline;
}

/** A change of a resource. */
export interface ArmChange {
  /** for error messages */
  readonly operation: string;
  readonly method: 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly version: string;
  readonly body?: Json;
}

/** A change that Azure has accepted, and needs longer for. */
export interface RunningOperation {
  readonly url: string;
  readonly kind: 'status' | 'location';
}

/** The answer to a change. */
export interface Accepted {
  readonly status: number;
  readonly body: Json;
  /** null: it is done */
  readonly running: RunningOperation | null;
}

/** Until the next question for a change that takes seconds, or a minute. */
export const retryMs = (minutes: boolean): number => (minutes ? 5000 : 2000);

/** The change failed, as opposed to the question for it. */
class LateRefusal extends CallFailure {
  constructor(readonly refusal: CallFailure) {
    super(refusal.kind, refusal.message, refusal.code, refusal.settled, refusal.retryAfterMs);
  }
}

/** The resource manager as plain JSON. Each call throws CallFailure, also for a malformed response. */
export class ArmJson {
  constructor(private readonly access: ArmAccess) {}

  /** @param path from `/subscriptions/` on */
  async get(path: string, version: string, operation: string): Promise<Json> {
    return (await this.send({ operation, url: this.urlOf(path, version) })).body;
  }

  /** All pages of a collection. A missing list is not an empty one. */
  async list(path: string, version: string, operation: string): Promise<Json[]> {
    const items: Json[] = [];
    const seen = new Set<string>();
    let url = this.urlOf(path, version);
    for (;;) {
      const { value, nextLink } = (await this.send({ operation, url })).body;
      if (!Array.isArray(value) || !value.every(isRecord) || seen.has(url))
        throw unexpectedResponse(operation);
      items.push(...value);
      if (typeof nextLink !== 'string' || nextLink === '') return items;
      seen.add(url);
      url = nextLink;
    }
  }

  /** Sends a change once. */
  async change({ operation, method, path, version, body }: ArmChange): Promise<Accepted> {
    const url = this.urlOf(path, version);
    const answer = await this.send({ operation, url, method, body });
    const status = answer.header('azure-asyncoperation');
    const location = answer.status === 202 ? answer.header('location') : undefined;
    const running: RunningOperation | null = status
      ? { url: status, kind: 'status' }
      : location
        ? { url: location, kind: 'location' }
        : null;
    return { status: answer.status, body: answer.body, running };
  }

  /** @returns whether it has ended @throws CallFailure of its refusal, when it failed */
  async hasEnded({ url, kind }: RunningOperation): Promise<boolean> {
    const { status, body } = await this.send({ operation: 'a question for a change', url });
    if (kind === 'location') return status !== 202;
    const state = typeof body.status === 'string' ? body.status.toLowerCase() : '';
    if (/^(failed|cancell?ed)$/.test(state)) throw new LateRefusal(lateRefusal(body, this.secrets));
    if (state === '') throw unexpectedResponse('a question for a change');
    return state === 'succeeded';
  }

  /**
   * Waits until a change has ended, as long as the call may take. When the credential may not ask, only a read shows the outcome.
   * @throws CallFailure of its refusal, or one that is not settled when the question failed
   */
  async waitFor(running: RunningOperation): Promise<'ended' | 'running' | 'not allowed'> {
    for (let poll = 1; this.access.deadline.hasTimeFor(1); poll += 1) {
      try {
        if (await this.hasEnded(running)) return 'ended';
      } catch (error) {
        const failure = asCallFailure(error);
        if (failure instanceof LateRefusal) throw failure.refusal;
        if (failure.kind === 'denied') return 'not allowed';
        throw new CallFailure('transient', `Its completion is unknown: ${failure.message}`, null, false);
      }
      await this.access.deadline.pause(pauseBefore(poll)).catch(() => undefined);
    }
    return 'running';
  }

  private urlOf = (path: string, version: string): string =>
    `${this.access.endpoint}${path}${path.includes('?') ? '&' : '?'}api-version=${version}`;

  /** Responses contain the URLs of next pages and operations: the token must not be sent to another host. */
  private send(request: {
    operation: string;
    url: string;
    method?: ArmChange['method'];
    body?: Json | undefined;
  }): Promise<JsonAnswer> {
    const { operation, url, method, body } = request;
    const { endpoint, token, deadline } = this.access;
    if (!URL.canParse(url) || !new URL(url).href.startsWith(new URL(`${endpoint}/`).href))
      throw unexpectedResponse(`${operation} (the URL points to another host)`);
    return token.use((current) =>
      requestJson(
        { cloud: 'Azure', refusalOf },
        {
          operation,
          url,
          mayBeEmpty: true,
          headers: {
            authorization: `Bearer ${current}`,
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(method && { method }),
          ...(body && { body: JSON.stringify(body) }),
          secrets: this.secrets,
        },
        deadline.requestTimeoutMs,
      ),
    );
  }

  /** Masked in error messages. */
  private get secrets(): string[] {
    return [this.access.clientSecret, this.access.token.current];
  }
}

/** The failure for a change that Azure has accepted, and whose end was not seen. */
export const stillRunning = (minutes: boolean): CallFailure =>
  new CallFailure(
    'transient',
    `Azure accepted the change and needs ${minutes ? 'about a minute' : 'some seconds'}`,
    null,
    false,
    retryMs(minutes),
  );
