import { MutationCache, QueryClient, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { paths } from '#client/schema';
import { api } from './client';
import { asFailure, isPassing } from './failure';

const SETTLED_MS = 15_000;
const UNSETTLED_MS = 2_000;
const MAX_RETRIES = 5;

/** Waits as long as the API asks for; a refusal is not repeated. */
function delayOf(attempt: number, error: unknown): number {
  return asFailure(error).retryAfterMs ?? Math.min(1000 * 2 ** attempt, 30_000);
}

export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MAX_RETRIES && isPassing(asFailure(error)),
      retryDelay: delayOf,
      refetchInterval: SETTLED_MS,
      staleTime: 1000,
    },
    // a token that was entered, or a key that was answered, is kept no longer than its form is drawn
    // without a network it fails, rather than to wait for one without a word
    mutations: { gcTime: 0, networkMode: 'always' },
  },
  // after a change, everything that is shown is read again: nothing is guessed
  mutationCache: new MutationCache({ onSettled: () => queryClient.invalidateQueries() }),
});

/**
 * For queries: polls every two seconds while what is shown is unsettled, else, and in a tab that is hidden, every fifteen.
 * @example $api.useQuery('get', path, {}, live((session) => session.status === 'PENDING'))
 */
export const live = <Data>(
  isUnsettled: (data: Data) => boolean,
): { refetchInterval: (query: { state: { data?: Data | undefined } }) => number } => ({
  refetchInterval: ({ state: { data } }) =>
    data !== undefined && isUnsettled(data) && !document.hidden ? UNSETTLED_MS : SETTLED_MS,
});

type ListAnswer<Item> = { get: { responses: { 200: { content: { 'application/json': Item[] } } } } };
/** The paths whose GET returns an array, with the total in a header. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends ListAnswer<unknown> ? Path : never;
}[keyof paths];
export type ItemOf<Path extends ListPath> = paths[Path] extends ListAnswer<infer Item> ? Item : never;

export interface List<Item> {
  readonly items: readonly Item[];
  /** of all pages */
  readonly total: number;
}

interface ListParameters {
  readonly path?: Readonly<Record<string, string>>;
  /** undefined: left out; several values: any of them */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
}

/** One page of a list, with the total of all. */
export function useList<Path extends ListPath>(
  path: Path,
  parameters: ListParameters = {},
  options: {
    isUnsettled?: (list: List<ItemOf<Path>>) => boolean;
    enabled?: boolean;
  } = {},
): UseQueryResult<List<ItemOf<Path>>> {
  return useQuery({
    queryKey: ['get', path, parameters],
    queryFn: ({ signal }) => readList(path, parameters, signal),
    placeholderData: (previous: List<ItemOf<Path>> | undefined) => previous,
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    ...(options.isUnsettled ? live(options.isUnsettled) : {}),
  });
}

type ReadList = (
  path: string,
  init: { params: ListParameters; signal?: AbortSignal },
) => Promise<{ data?: unknown; response: Response }>;

async function readList<Path extends ListPath>(
  path: Path,
  params: ListParameters,
  signal?: AbortSignal,
): Promise<List<ItemOf<Path>>> {
  // the parameters differ from path to path; their names are checked where they are given
  const read = api.GET as unknown as ReadList;
  const { data, response } = await read(path, { params, ...(signal ? { signal } : {}) });
  const items = data as ItemOf<Path>[];
  return { items, total: Number(response.headers.get('X-Total-Count') ?? items.length) };
}

const PAGE_SIZE = 100;
/** More than any organization has of what is chosen from; a longer list is searched on the server. */
const MAX_PAGES = 10;

/** Every item of a list that one chooses from, such as all roles. */
export function useAll<Path extends ListPath>(
  path: Path,
  query: ListParameters['query'] = {},
  options: { enabled?: boolean } = {},
): UseQueryResult<readonly ItemOf<Path>[]> {
  return useQuery({
    queryKey: ['all', path, query],
    queryFn: async ({ signal }) => {
      const items: ItemOf<Path>[] = [];
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const read = await readList(path, { query: { ...query, page, size: PAGE_SIZE } }, signal);
        items.push(...read.items);
        if (items.length >= read.total || read.items.length < PAGE_SIZE) break;
      }
      return items;
    },
    // a long list is many requests; a change of one's own is read at once
    refetchInterval: false,
    ...options,
  });
}
