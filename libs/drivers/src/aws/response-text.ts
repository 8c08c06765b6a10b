import type { GetManagedPrefixListEntriesCommand } from '@aws-sdk/client-ec2';

interface RawResponse {
  body: AsyncIterable<Uint8Array> | Uint8Array;
}

/**
 * Keeps the text of a command's response, which the SDK does not show. Call it before the command is sent.
 * @returns a function that returns the text; empty before the response
 */
export function keepResponseText(command: GetManagedPrefixListEntriesCommand): () => string {
  let text = '';
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as RawResponse;
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      response.body = body;
      text = body.toString('utf8');
      return result;
    },
    // innermost: before the SDK parses the body
    { step: 'deserialize', priority: 'low', name: 'keepResponseText' },
  );
  return () => text;
}

/**
 * Whether a response to GetManagedPrefixListEntries has no entries. EC2 leaves out `entrySet` then. Any other response
 * without it, cut off or not from EC2, is not an empty list.
 */
export const hasNoEntries = (text: string): boolean =>
  /^(?:<\?xml [^>]{0,100}\?>)?\s{0,10}<GetManagedPrefixListEntriesResponse[ >]/.test(text) &&
  text.trimEnd().endsWith('</GetManagedPrefixListEntriesResponse>') &&
  text.includes('<requestId>') &&
  !text.includes('<entrySet>') &&
  !text.includes('<item>');
