import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema';
import { sendingFetch, type Credential, type SendingOptions } from './sending';

/** The operations of the API, typed. Each throws ApiFailure or Unreachable instead of returning an error. */
export type Api = Client<paths>;

export type Schemas = components['schemas'];
export type Session = Schemas['SessionDto'];
export type Resource = Schemas['ResourceDto'];
export type SessionStatus = Session['status'];

export interface ApiOptions extends SendingOptions {
  /** without `/api/v1` */
  readonly url: string;
}

export function createApi({ url, ...sending }: ApiOptions): Api {
  const headers = { 'User-Agent': 'drawbridge' };
  return createClient<paths>({ baseUrl: url, headers, fetch: sendingFetch(sending) });
}

/** @returns the body of a success */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  // failures are thrown, so there is a body, unless the operation has none
  return (await answer).data as T;
}

const fixed = (headers: Readonly<Record<string, string>>): Credential => ({
  headers: () => Promise.resolve(headers),
  renew: () => Promise.resolve(false),
});

export const apiKey = (key: string): Credential => fixed({ 'X-API-Key': key });

export const bearerToken = (token: string): Credential => fixed({ Authorization: `Bearer ${token}` });

/** The token of one leased session: it renews, reads and stops this session only. */
export const sessionToken = (token: string): Credential => fixed({ Authorization: `Session ${token}` });

const MAX_PAGES = 1000;
const PAGE_SIZE = 100;

/** All items of a paginated list. @param read one page, counted from 0, with its size */
export async function everyPage<T>(
  read: (page: { page: number; size: number }) => Promise<T[]>,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const some = await read({ page, size: PAGE_SIZE });
    items.push(...some);
    if (some.length < PAGE_SIZE) return items;
  }
  return items;
}
