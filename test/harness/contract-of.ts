import type { OpenApiContract } from './openapi-contract';

declare global {
  /** of `product-environment.cjs` */
  var sharedContract: ((text: string) => OpenApiContract) | undefined;
}

const known = new Map<string, Promise<OpenApiContract>>();

/** The document that an API serves, fetched once for each base URL. */
export function contractOf(base: string): Promise<OpenApiContract> {
  const found = known.get(base) ?? read(base);
  known.set(base, found);
  // fetched again when the API was down
  found.catch(() => known.delete(base));
  return found;
}

async function read(base: string): Promise<OpenApiContract> {
  const response = await fetch(`${base}/openapi.json`);
  if (!response.ok) throw new Error(`${base}/openapi.json answered ${response.status}`);
  const text = await response.text();
  if (globalThis.sharedContract) return globalThis.sharedContract(text);
  const { OpenApiContract } = await import('./openapi-contract.js');
  return new OpenApiContract(text);
}
