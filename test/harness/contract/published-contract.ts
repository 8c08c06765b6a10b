import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { OpenApiContract } from './openapi-contract';

let contract: OpenApiContract | null = null;

/**
 * The document in `openapi.json`, which test/e2e/contract/9-versioning compares with what an API serves: each API of the tests
 * would generate it anew.
 */
export const publishedContract = (): OpenApiContract =>
  (contract ??= new OpenApiContract(readFileSync(resolve(__dirname, '../../../openapi.json'), 'utf8')));

/** What a server has outside of the API's prefix. The response must conform to the document, too. */
export async function fetchDocumented(
  origin: string,
  path: string,
  init: RequestInit = {},
): Promise<Pick<Response, 'status' | 'headers'> & { readonly bytes: Buffer }> {
  const response = await fetch(origin + path, init);
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const [method, contentType] = [init.method ?? 'GET', headers.get('content-type')];
  publishedContract().check({ method, path, status, contentType, text: bytes.toString('latin1') });
  return { status, headers, bytes };
}
