import { fstatSync } from 'node:fs';
import { usageFailure } from '../exit-codes';
import type { Output } from '../output';
import type { Call } from '../program';
import { textFrom } from '../terminal/inputs';

export interface ApiOptions {
  readonly data?: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const PREFIX = '/api/v1';

/** Sends a request as this caller, and prints the answer. A refusal is a failure as of any command. */
export async function api({ given, options, output, connection }: Call<ApiOptions>): Promise<void> {
  const [method, path] = [given[0]!.toUpperCase(), given[1]!];
  if (!METHODS.includes(method)) {
    throw usageFailure(`"${method}" is no method`, `one of ${METHODS.join(', ')}`);
  }
  const url = new URL(`${connection.url}${pathOf(path)}`);
  const body = method === 'GET' ? null : await bodyOf(options, output);
  const headers = body === null ? {} : { 'Content-Type': 'application/json' };
  const answer = await connection.fetch(new Request(url, { method, headers, body }));
  const text = await answer.text();
  // JSON is readable as it is
  const isJson = /^\s*[[{]/.test(text);
  const result = isJson ? (JSON.parse(text) as object) : { text };
  // lines of CSV end with CR LF
  output.result(result, isJson ? JSON.stringify(result, null, 2) : text.trimEnd().replaceAll('\r\n', '\n'));
}

/** @throws CommandFailure for another server's address: a secret is sent along */
function pathOf(path: string): string {
  if (/^\/(?!\/)/.test(path)) return path.startsWith(`${PREFIX}/`) ? path : `${PREFIX}${path}`;
  throw usageFailure(`<path> must begin with one slash, and not be "${path}"`, '/sessions');
}

/** From --data, else from a file or a pipe at standard input. */
async function bodyOf({ data }: ApiOptions, output: Output): Promise<string | null> {
  const text = data?.startsWith('@')
    ? await textFrom(data.slice(1), '--data')
    : data !== undefined && data !== '-'
      ? data
      : data === '-' || hasInput()
        ? await output.mentionWait('for the body on standard input', textFrom('-', '--data'))
        : '';
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
  } catch (error) {
    throw usageFailure(`The body is no JSON: ${(error as SyntaxError).message}`);
  }
  return text;
}

function hasInput(): boolean {
  const stat = fstatSync(0);
  return stat.isFIFO() || stat.isSocket() || stat.isFile();
}
