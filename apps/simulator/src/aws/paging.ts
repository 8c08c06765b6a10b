import { AwsError, invalidValue } from './aws-error';
import type { QueryForm } from './query-form';

/** Page sizes of an operation; `usual`: without `MaxResults`. */
interface PageSizes {
  readonly smallest: number;
  readonly largest: number;
  readonly usual: number;
}

const PAGE_SIZES: PageSizes = { smallest: 5, largest: 1000, usual: Number.POSITIVE_INFINITY };

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string | undefined;
}

/**
 * Returns the page that `MaxResults` and `NextToken` request.
 * @param items in ascending order of their ordinals; a token holds the last ordinal of its page, so that pages neither
 *   repeat nor skip items while others are added and removed
 * @throws AwsError
 */
export function cutPage<T extends { readonly ordinal: number }>(
  form: QueryForm,
  items: readonly T[],
  sizes = PAGE_SIZES,
): Page<T> {
  const size = readSize(form.text('MaxResults'), sizes);
  const after = readToken(form.text('NextToken'));
  const rest = items.filter((item) => item.ordinal > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  const nextToken = last && rest.length > page.length ? writeToken(last.ordinal) : undefined;
  return { items: page, nextToken };
}

function readSize(text: string | undefined, { smallest, largest, usual }: PageSizes): number {
  if (text === undefined) return usual;
  const size = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (size >= smallest && size <= largest) return size;
  throw invalidValue(
    `Value ( ${text} ) for parameter maxResults is invalid. ` +
      `Parameter must be between ${smallest} and ${largest}.`,
  );
}

const writeToken = (ordinal: number): string => Buffer.from(`after:${ordinal}`).toString('base64url');

function readToken(token: string | undefined): number {
  if (token === undefined) return Number.NEGATIVE_INFINITY;
  const [, ordinal] = /^after:(\d+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (ordinal !== undefined) return Number(ordinal);
  throw new AwsError('InvalidPaginationToken', 'The specified pagination token is not valid or is expired.');
}
