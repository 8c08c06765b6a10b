import { Transform } from 'class-transformer';
import { ArrayMaxSize, Length } from 'class-validator';
import type { ListDefinition, ListFilter, ListQuery, Slice } from '#entities';
import { parseHost } from '#rules';
import { checkedBy } from './checked-by';
import { anyOf, id, names, oneOf, Optional, queryFlag, string, type Kind } from './fields';
import { PAGE, PageQueryDto, SIZE } from './page-query.dto';

/** Pagination of a list that is returned as a whole without it. */
export class WholeListQueryDto {
  @Optional(PAGE, { description: 'Counted from 0; without page and size everything is listed' })
  page?: number;

  @Optional(SIZE, { description: 'items a page' })
  size?: number;
}

/** Text that is not blank, trimmed. */
const SEARCH = string(
  Length(1, 100, { message: 'must have 1 to 100 characters' }),
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim() || undefined : value,
  ),
);

export const isHost = (value: unknown): boolean => typeof value === 'string' && parseHost(value) !== null;

/** One address, in its canonical form. */
export const ADDRESS: Kind = {
  checks: [
    checkedBy('isAddress', (value) => (isHost(value) ? null : 'must be an IPv4 or IPv6 address')),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parseHost(value)?.text ?? value) : value,
    ),
  ],
  doc: { type: String, example: '203.0.113.10' },
};

const LABEL = /^([a-z][a-z0-9._/-]{0,70})=([A-Za-z0-9][A-Za-z0-9._ -]{0,62})$/;

/** `key=value`, repeated: as JSON texts. */
const LABELS_IN_QUERY: Kind = {
  checks: [
    checkedBy(
      'isLabel',
      (value) => (typeof value === 'string' && value.startsWith('{"') ? null : 'must be like env=prod'),
      { each: true },
    ),
    ArrayMaxSize(20, { message: 'must be given at most 20 times' }),
    Transform(({ value }: { value: unknown }) =>
      (Array.isArray(value) ? (value as unknown[]) : [value]).map((text) => {
        const [, key, given] = LABEL.exec(String(text)) ?? [];
        return key === undefined ? text : JSON.stringify({ [key]: given });
      }),
    ),
  ],
  doc: { type: [String], example: ['env=prod'] },
};

const KINDS: Readonly<Record<ListFilter['kind'], (filter: ListFilter) => Kind>> = {
  id: () => id(),
  flag: () => queryFlag(),
  address: () => ADDRESS,
  labels: () => LABELS_IN_QUERY,
  texts: () => names(20, 'texts'),
  choices: ({ values = [], enumName }) => anyOf(values, enumName),
};

/**
 * The checked and documented query parameters of a list.
 * @param choices the values of filters whose definition has none
 */
export function listQueryOf<Page extends new () => Partial<Slice> = typeof PageQueryDto>(
  { search, sort, order, filters }: ListDefinition,
  choices: Readonly<Record<string, readonly string[]>> = {},
  page?: Page,
): new () => InstanceType<Page> & ListQuery {
  class ListQueryDto extends (page ?? PageQueryDto) {}
  const add = (name: string, kind: Kind, doc: object): void =>
    Optional(kind, doc)(ListQueryDto.prototype, name);
  if (search.length > 0) add('search', SEARCH, { minLength: 1, maxLength: 100 });
  const orders = Object.keys(sort).flatMap((name) => [name, `-${name}`]);
  add('sort', oneOf(orders), { default: order });
  for (const [name, filter] of Object.entries(filters)) {
    const given = choices[name];
    add(name, KINDS[filter.kind](given ? { ...filter, values: given } : filter), {});
  }
  return ListQueryDto as unknown as new () => InstanceType<Page> & ListQuery;
}
