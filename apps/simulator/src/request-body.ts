import type { IncomingMessage } from 'node:http';

export const MAX_BODY_BYTES = 1_000_000;

/** The body as text; null when it is too long. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length > MAX_BODY_BYTES ? null : Buffer.concat(chunks).toString('utf8');
}
