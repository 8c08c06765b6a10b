import { cutPage, type Page } from '../paging';
import { awsError, invalidValue } from './aws-error';
import type { QueryForm } from './query-form';

/** Page sizes of an operation; `usual`: without `MaxResults`. */
interface PageSizes {
  readonly smallest: number;
  readonly largest: number;
  readonly usual: number;
}

const PAGE_SIZES: PageSizes = { smallest: 5, largest: 1000, usual: Number.POSITIVE_INFINITY };

/**
 * The page that `MaxResults` and `NextToken` request.
 * @param items in ascending order of their ordinals
 * @throws CloudError
 */
export function requestedPage<T extends { readonly ordinal: number }>(
  form: QueryForm,
  items: readonly T[],
  sizes = PAGE_SIZES,
): Page<T> {
  const size = readSize(form.text('MaxResults'), sizes);
  const page = cutPage(items, ({ ordinal }) => ordinal, form.text('NextToken') ?? '', size);
  if (page) return page;
  throw awsError('InvalidPaginationToken', 'The specified pagination token is not valid or is expired.');
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
