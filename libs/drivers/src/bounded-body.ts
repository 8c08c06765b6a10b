/**
 * Reads the body of a response up to a limit. A longer one is not read further.
 * @returns null when it is too long
 */
export async function readBounded(response: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // leaving the loop cancels the stream
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
