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

type AnswerOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Answer } } } };
}
  ? Answer
  : never;
type ItemIn<Answer> = Answer extends readonly (infer Item)[] | { content: readonly (infer Item)[] }
  ? Item
  : never;
/** The paths whose GET returns a list: an array with the total in a header, or a page with its total. */
export type ListPath = {
  [Path in keyof paths]: [ItemIn<AnswerOf<Path>>] extends [never] ? never : Path;
}[keyof paths];
export type ItemOf<Path extends ListPath> = ItemIn<AnswerOf<Path>>;

export interface List<Item> {
  readonly items: readonly Item[];
  /** of all pages */
  readonly total: number;
}

export interface ListParameters {
  readonly path?: Readonly<Record<string, string>> | undefined;
  /** undefined: left out; several values: any of them */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
}

/** One page of a list, with the total of all. */
export function useList<Path extends ListPath>(
  path: Path,
  parameters: ListParameters = {},
  options: {
    isUnsettled?: ((list: List<ItemOf<Path>>) => boolean) | undefined;
    enabled?: boolean;
    /** read once, and after each change: what one chooses from */
    isStill?: boolean;
  } = {},
): UseQueryResult<List<ItemOf<Path>>> {
  return useQuery({
    ...listOf(path, parameters),
    placeholderData: (previous: List<ItemOf<Path>> | undefined) => previous,
    ...(options.isStill ? { refetchInterval: false } : {}),
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    ...(options.isUnsettled ? live(options.isUnsettled) : {}),
  });
}

/** The same for `useQueries`. */
export const listOf = <Path extends ListPath>(path: Path, parameters: ListParameters) => ({
  queryKey: ['get', path, parameters],
  queryFn: ({ signal }: { signal: AbortSignal }) => readList(path, parameters, signal),
});

type ReadList = (
  path: string,
  init: { params: ListParameters; signal: AbortSignal },
) => Promise<{ data?: unknown; response: Response }>;

async function readList<Path extends ListPath>(
  path: Path,
  params: ListParameters,
  signal: AbortSignal,
): Promise<List<ItemOf<Path>>> {
  // the parameters differ from path to path; their names are checked where they are given
  const read = api.GET as unknown as ReadList;
  const { data, response } = await read(path, { params, signal });
  const answer = data as ItemOf<Path>[] | { content: ItemOf<Path>[]; totalElements: number };
  if (!Array.isArray(answer)) return { items: answer.content, total: answer.totalElements };
  return { items: answer, total: Number(response.headers.get('X-Total-Count') ?? answer.length) };
}
