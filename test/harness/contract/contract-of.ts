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

async function read(base: string): Promise<OpenApiContract> {
  const response = await fetch(`${base}/openapi.json`);
  if (!response.ok) throw new Error(`${base}/openapi.json answered ${response.status}`);
  const text = await response.text();
  const contract = byText.get(text) ?? new OpenApiContract(text);
  byText.set(text, contract);
  return contract;
}
