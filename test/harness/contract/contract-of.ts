import { OpenApiContract } from './openapi-contract';

/** By the address of an API, and by the document, which most APIs of a run share: compiling it takes seconds. */
const byBase = new Map<string, Promise<OpenApiContract>>();
const byText = new Map<string, OpenApiContract>();

/** The document that an API serves, fetched once for each base URL. */
export function contractOf(base: string): Promise<OpenApiContract> {
  const found = byBase.get(base) ?? read(base);
  byBase.set(base, found);
  // fetched again when the API was down
  found.catch(() => byBase.delete(base));
  return found;
}

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
  const contract = await contractOf(`${origin}/api/v1`);
  contract.check({ method, path, status, contentType, text: bytes.toString('latin1') });
  return { status, headers, bytes };
}

async function read(base: string): Promise<OpenApiContract> {
  const response = await fetch(`${base}/openapi.json`);
  if (!response.ok) throw new Error(`${base}/openapi.json answered ${response.status}`);
  const text = await response.text();
  const contract = byText.get(text) ?? new OpenApiContract(text);
  byText.set(text, contract);
  return contract;
}
