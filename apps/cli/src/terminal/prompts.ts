import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { ApiFailure, visible } from '#client';
import { usageFailure } from '../exit-codes';

const MAX_INPUT_CHARACTERS = 10_000;

export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** @throws CommandFailure without a terminal */
export function requireTerminal(question: string, fix: string): void {
  if (!canAsk()) throw usageFailure(`${question}: there is no terminal to ask on`, fix);
}

/** Asks on the terminal. @param secret true: what is typed is not shown. @throws CommandFailure without a terminal */
export async function ask(question: string, { secret = false, fix = '' } = {}): Promise<string> {
  requireTerminal(question, fix);
  // readline repeats what is typed on its output
  const output = secret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  if (secret) process.stderr.write(`${question}: `);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl-C and Ctrl-D: nothing was answered
  const given = new AbortController();
  lines.once('SIGINT', () => given.abort());
  lines.once('close', () => given.abort());
  try {
    const answer = await lines.question(secret ? '' : `${question}: `, { signal: given.signal });
    return answer.trim();
  } catch (error) {
    if (given.signal.aborted) throw usageFailure('Nothing was given');
    throw error;
  } finally {
    lines.close();
    if (secret) process.stderr.write('\n');
  }
}

const CODE_ATTEMPTS = 3;

/** Asks for a code, again when it is refused: up to three times. @param send throws for a code that is wrong */
export async function askCode<T>(
  question: string,
  fix: string,
  send: (code: string) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const code = await ask(question, { fix });
    try {
      return await send(code);
    } catch (error) {
      const isWrong =
        error instanceof ApiFailure && [400, 401].includes(error.status) && /\bcode\b/i.test(error.message);
      if (!isWrong || attempt === CODE_ATTEMPTS) throw error;
      process.stderr.write(`${visible(error.message)}\n`);
    }
  }
}

/** The first line of standard input, for secrets in scripts. @throws CommandFailure when it is empty */
export async function firstLine(what: string): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.includes('\n') || text.length > MAX_INPUT_CHARACTERS) break;
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line !== '') return line;
  throw usageFailure(`Standard input must hold ${what} in its first line`);
}
