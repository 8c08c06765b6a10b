import { LimiterPerKey, type OrganizationId } from '#rules';
import type { Tx } from './database';
import { isTimeout } from './database-faults';
import { readPage, type Slice, type Sliced } from './slice';

/** What a request may narrow a list by. */
export interface ListFilter {
  /** `choices`: some of `values`; `texts`: some of any */
  readonly kind: 'id' | 'flag' | 'address' | 'choices' | 'texts' | 'labels';
  readonly values?: readonly string[];
  /** name of the values in the OpenAPI document, where other fields have them too */
  readonly enumName?: string;
  /** SQL, in which `?` stands for what was given: an array of texts for `choices` and `texts`, of JSON texts for `labels` */
  readonly where: string;
}

/** A list of an organization's objects that is counted as a whole: see `TimedList` for what grows with time. */
export interface ListDefinition {
  /** SQL: `SELECT … WHERE …`, in which $1 is the organization */
  readonly list: string;
  /** SQL: what orders objects of the same value, and is found as a whole */
  readonly id: string;
  /** SQL: the texts that are searched; NULL has none */
  readonly search: readonly string[];
  /** SQL of what the list can be sorted by */
  readonly sort: Readonly<Record<string, string>>;
  /** a name in `sort`; -name: in descending order */
  readonly order: string;
  readonly filters: Readonly<Record<string, ListFilter>>;
}

/** What was asked of a list, with a value for each filter that was given. Without a page, all of it. */
export interface ListQuery extends Partial<Slice> {
  /** a part of one of the texts in any case, or a whole id */
  readonly search?: string | undefined;
  /** as `ListDefinition.order` */
  readonly sort?: string | undefined;
  readonly [filter: string]: unknown;
}

export const idFilter = (where: string): ListFilter => ({ kind: 'id', where });
export const flagFilter = (where: string): ListFilter => ({ kind: 'flag', where });
/** @param of SQL, a text */
export const choiceFilter = (of: string, values: readonly string[], enumName?: string): ListFilter => ({
  kind: 'choices',
  values,
  where: `${of} = ANY (?::text[])`,
  ...(enumName !== undefined && { enumName }),
});

/** Searches of one organization that run at once, and those that wait: each reads all of its objects. */
const searches = new LimiterPerKey(4, 20);
const SEARCH_MS = 2000;

/** A search took longer than it may. */
export class SearchTooSlow extends Error {
  constructor() {
    super('Search took too long: type more');
  }
}

/**
 * Reads a page of a list, and counts it.
 * @param more values of $2 and so on
 * @throws SearchTooSlow after two seconds, TooBusy while too many of the organization search
 */
export async function listPage<Row>(
  tx: Tx,
  definition: ListDefinition,
  organization: OrganizationId,
  query: ListQuery,
  more: readonly unknown[] = [],
): Promise<Sliced<Row>> {
  const { page, size = 100, search, sort = definition.order } = query;
  const given: unknown[] = [organization, ...more];
  const add = (where: string, value: unknown): string => {
    const placeholder = `$${given.push(value)}`;
    return where.replaceAll('?', () => placeholder);
  };
  const filters = Object.entries(definition.filters)
    .filter(([name]) => query[name] !== undefined)
    .map(([name, { where }]) => add(where, query[name]));
  const searched = search === undefined ? [] : [add(containing(definition), search)];
  const list = [definition.list, ...filters, ...searched].join(' AND ');
  const order = orderOf(definition, sort);
  const read = async (reader: Tx): Promise<Sliced<Row>> => {
    if (page !== undefined) return readPage<Row>(reader, list, order, given, { page, size });
    const rows = await reader.query<Row[]>(`${list} ORDER BY ${order}`, given);
    return { rows, total: rows.length };
  };
  return search === undefined ? read(tx) : searches.run(organization, () => inTime(tx, read));
}

/** `%` and `_` mean themselves. */
const containing = ({ search, id }: ListDefinition): string =>
  `(${search.map((text) => `strpos(lower(${text}), lower(?::text)) > 0 OR `).join('')}${id}::text = lower(?::text))`;

function orderOf({ sort, id }: ListDefinition, asked: string): string {
  const descends = asked.startsWith('-');
  return `${sort[asked.slice(descends ? 1 : 0)]!}${descends ? ' DESC' : ''} NULLS LAST, ${id}`;
}

async function inTime<Found>(tx: Tx, read: (reader: Tx) => Promise<Found>): Promise<Found> {
  try {
    return await tx.transaction(async (reader) => {
      await reader.query(`SET LOCAL statement_timeout = ${SEARCH_MS}`);
      return read(reader);
    });
  } catch (error) {
    throw isTimeout(error) ? new SearchTooSlow() : error;
  }
}
