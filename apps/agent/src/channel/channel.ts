import { readFile } from 'node:fs/promises';
import { fields, readState, UnreadableState, type HostState } from '../state/host-state';
import { exchange, type Request, type Response } from './exchange';
import type { Report } from './report';

/**
 * `away`: nobody answers, or not what an agent needs; `refused`: the key or the name is not taken; `rival`: another
 * installation serves under the name.
 */
export type ChannelFault = 'away' | 'refused' | 'rival';

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
  /** read with every request: a new key needs no restart */
  readonly key: { readonly file: string } | { readonly value: string };
}

const CHANNEL_PATH = '/api/v1/agents/';
/** Beyond the wait that was asked for. */
const ANSWER_TIMEOUT_MS = 15_000;

/** The agent channel: two requests, both outwards. */
export class Channel {
  /** @param now running time in milliseconds */
  constructor(
    private readonly options: ChannelOptions,
    private readonly now: () => number,
  ) {}

  /**
   * The whole state.
   * @param known the version that the host has; null asks for an answer at once
   * @param gone ends the request
   * @throws ChannelError, and what `gone` was aborted with
   */
  async state(known: string | null, waitSeconds: number, gone: AbortSignal): Promise<HostState> {
    const { name, instance } = this.options;
    const query = new URLSearchParams({ agent: name, instance });
    if (known !== null) {
      query.set('version', known);
      query.set('waitSeconds', String(waitSeconds));
    }
    const body = await this.ask(`state?${query.toString()}`, { method: 'GET' }, waitSeconds * 1000, gone);
    try {
      return readState(body, this.now());
    } catch (error) {
      if (error instanceof UnreadableState) throw new ChannelError('away', error.message);
      throw error;
    }
  }

  /** The state as it is now, for somebody who only looks: it makes nobody the agent of the host. @throws ChannelError */
  async preview(): Promise<HostState> {
    const query = new URLSearchParams({ agent: this.options.name, dryRun: 'true' });
    const never = new AbortController().signal;
    return readState(await this.ask(`state?${query.toString()}`, { method: 'GET' }, 0, never), this.now());
  }

  /** Tells what became of the state with this version. @throws ChannelError, and what `gone` was aborted with */
  async report(version: string, report: Report, gone: AbortSignal): Promise<void> {
    const { name, instance } = this.options;
    const body = JSON.stringify({ agent: name, instance, version, ...report });
    await this.ask('report', { method: 'POST', body }, 0, gone);
  }

  private async ask(
    path: string,
    request: Pick<Request, 'method' | 'body'>,
    waitMs: number,
    gone: AbortSignal,
  ): Promise<unknown> {
    const late = new AbortController();
    const hangUp = (): void => late.abort();
    const timer = setTimeout(hangUp, waitMs + ANSWER_TIMEOUT_MS);
    gone.addEventListener('abort', hangUp, { once: true });
    try {
      gone.throwIfAborted();
      const headers = {
        'X-API-Key': await this.key(),
        'User-Agent': this.options.software,
        'Content-Type': 'application/json',
      };
      const url = new URL(`${this.options.server}${CHANNEL_PATH}${path}`);
      return answerOf(await exchange({ ...request, url, headers, signal: late.signal }));
    } catch (error) {
      gone.throwIfAborted();
      throw error instanceof ChannelError ? error : new ChannelError('away', unreached(error, late.signal));
    } finally {
      clearTimeout(timer);
      gone.removeEventListener('abort', hangUp);
    }
  }

  private async key(): Promise<string> {
    const { key } = this.options;
    if ('value' in key) return key.value;
    const text = await readFile(key.file, 'utf8').catch((error: unknown) => {
      throw new ChannelError('refused', `The key cannot be read: ${messageOf(error)}`);
    });
    return text.trim();
  }
}

/** @throws ChannelError unless it is 200 with JSON */
function answerOf({ status, text }: Response): unknown {
  const body = parsed(text);
  const { message, path } = fields(body);
  const words = typeof message === 'string' ? message : `it answered ${status}`;
  if (status === 200 && body !== undefined) return body;
  if (status === 401 || status === 403) {
    throw new ChannelError(
      'refused',
      `The server refuses the key: ${words}. It has to be valid, with the scope agent:connect, and bound to this host`,
    );
  }
  if (status === 409) throw new ChannelError('rival', words);
  if (status === 400) throw new ChannelError('refused', `The server refuses the request: ${words}`);
  if (status === 404 && typeof path === 'string' && path.startsWith(CHANNEL_PATH)) {
    throw new ChannelError('refused', `The server does not know this host: ${words}`);
  }
  if (status === 404) {
    throw new ChannelError(
      'refused',
      'There is no agent channel at this address: is it the one of Drawbridge?',
    );
  }
  throw new ChannelError('away', `The server is not able to answer: ${words}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreached(error: unknown, late: AbortSignal): string {
  if (late.aborted) return 'The server does not answer in time';
  return `The server cannot be reached: ${messageOf(error)}`;
}

const messageOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
