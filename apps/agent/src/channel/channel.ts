import { readFile, stat } from 'node:fs/promises';
import { visible } from '#rules';
import { messageOf } from '../log';
import { fields, readState, UnreadableState, type HostState } from '../state/host-state';
import { exchange, type Response } from './exchange';
import type { Report } from './report';

/**
 * `unavailable`: no answer, or an unusable one; `rejected`: the key or the name is not accepted; `conflict`: another
 * installation serves under the name.
 */
export type ChannelFault = 'unavailable' | 'rejected' | 'conflict';

export class ChannelError extends Error {
  constructor(
    readonly fault: ChannelFault,
    message: string,
  ) {
    super(message);
  }
}

export interface ChannelOptions {
  /** without a slash at the end */
  readonly server: string;
  readonly name: string;
  readonly instance: string;
  readonly software: string;
  /** a file is read with every request: a new key needs no restart */
  readonly key: { readonly file: string } | { readonly value: string };
}

const OTHERS_MAY_READ = 0o004;
const CHANNEL_PATH = '/api/v1/agents/';
/** Added to the requested wait. */
const ANSWER_TIMEOUT_MS = 15_000;

/** The agent channel: two outbound requests. */
export class Channel {
  /** @param now running time in milliseconds */
  constructor(
    private readonly options: ChannelOptions,
    private readonly now: () => number,
  ) {}

  /**
   * Fetches the whole state, with a long poll.
   * @param known the version that the host has; null: answer immediately
   * @param signal aborts the request
   * @throws ChannelError, and the reason that `signal` was aborted with
   */
  state(known: string | null, waitSeconds: number, signal: AbortSignal): Promise<HostState> {
    const { name, instance } = this.options;
    const wait = known === null ? {} : { version: known, waitSeconds: String(waitSeconds) };
    return this.fetch({ agent: name, instance, ...wait }, waitSeconds * 1000, signal);
  }

  /** Fetches the current state without registering as the host's agent. @throws ChannelError */
  preview(): Promise<HostState> {
    return this.fetch({ agent: this.options.name, dryRun: 'true' }, 0, new AbortController().signal);
  }

  /** Reports the results for a version of the state. @throws ChannelError, and the reason of `signal` */
  async report(version: string, report: Report, signal: AbortSignal): Promise<void> {
    const { name, instance } = this.options;
    await this.request('report', JSON.stringify({ agent: name, instance, version, ...report }), 0, signal);
  }

  private async fetch(
    query: Readonly<Record<string, string>>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<HostState> {
    const body = await this.request(`state?${new URLSearchParams(query).toString()}`, null, waitMs, signal);
    try {
      return readState(body, this.now());
    } catch (error) {
      if (error instanceof UnreadableState)
        throw new ChannelError('unavailable', `The answer cannot be used. ${error.message}`);
      throw error;
    }
  }

  /** @param content of a POST; null: a GET */
  private async request(
    path: string,
    content: string | null,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<unknown> {
    const timeout = AbortSignal.timeout(waitMs + ANSWER_TIMEOUT_MS);
    try {
      signal.throwIfAborted();
      const headers = {
        'X-API-Key': await this.key(),
        'User-Agent': this.options.software,
        'Content-Type': 'application/json',
      };
      const url = new URL(`${this.options.server}${CHANNEL_PATH}${path}`);
      return bodyOf(await exchange({ url, headers, content, signal: AbortSignal.any([signal, timeout]) }));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChannelError) throw error;
      const message = timeout.aborted
        ? 'The server does not answer in time'
        : `The server cannot be reached: ${messageOf(error)}`;
      throw new ChannelError('unavailable', message);
    }
  }

  private async key(): Promise<string> {
    const { key } = this.options;
    if ('value' in key) return key.value;
    try {
      const { mode } = await stat(key.file);
      if ((mode & OTHERS_MAY_READ) !== 0) throw new Error(`other users may read it: chmod 600 ${key.file}`);
      return (await readFile(key.file, 'utf8')).trim();
    } catch (error) {
      throw new ChannelError('rejected', `The key is not used: ${messageOf(error)}`);
    }
  }
}

/** @throws ChannelError unless the answer is 200 with JSON */
function bodyOf({ status, text }: Response): unknown {
  const body = parsed(text);
  const { message, path } = fields(body);
  const reason = typeof message === 'string' ? visible(message) : `it answered ${status}`;
  if (status === 200 && body !== undefined) return body;
  if (status === 409) throw new ChannelError('conflict', reason);
  const isOfChannel = typeof path === 'string' && path.startsWith(CHANNEL_PATH);
  const key = `The server refuses the key: ${reason}. It has to be valid, with the scope agent:connect, and bound to this host`;
  const rejections: Readonly<Record<number, string>> = {
    400: `The server refuses the request: ${reason}`,
    401: key,
    403: key,
    404: isOfChannel
      ? `The server does not know this host: ${reason}`
      : 'There is no agent channel at this address: is it the one of Drawbridge?',
  };
  const rejection = rejections[status];
  if (rejection !== undefined) throw new ChannelError('rejected', rejection);
  throw new ChannelError('unavailable', `The server cannot answer: ${reason}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
