import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useList, type ItemOf, type ListParameters, type ListPath } from '../api';
import { Loaded, Muted, Page, Pager, Section, Table, Time, type Column } from '../ui';
import { askedBy, Filters, isNarrowed, type Address, type Filter } from './filters';
import { PAGE_SIZE } from './search';
import { Selection, type Bulk } from './selection';
import { count } from './words';

/** All of so short a list is seen: it has no fields and no boxes. */
const FEW = 10;

interface CollectionProps<Path extends ListPath> {
  /** what the rows are, for who does not see the table */
  readonly caption: string;
  readonly path: Path;
  /** parameters in the path */
  readonly of?: Readonly<Record<string, string>>;
  /** what it always asks for */
  readonly query?: ListParameters['query'];
  readonly columns: readonly Column<ItemOf<Path>>[];
  /** what the search looks in; left out: there is none */
  readonly search?: string;
  readonly filters?: readonly Filter[];
  /** its order until another one is chosen */
  readonly sort?: string;
  readonly bulk?: readonly Bulk<ItemOf<Path>>[];
  /** rows are selected in a short list, too: nothing else is done to one */
  readonly isForBulk?: boolean;
  /** such as "session", for what is done to several */
  readonly one?: string;
  /** a row in words; left out: its name */
  readonly nameOf?: (item: ItemOf<Path>) => string;
  readonly isUnsettled?: (item: ItemOf<Path>) => boolean;
  /** above the others of its page */
  readonly isFirst?: (item: ItemOf<Path>) => boolean;
  /** one of several on its screen: its first page, as the address is of another one */
  readonly isBeside?: boolean;
  readonly empty: ReactNode;
}

/** What is neither an object of its own nor has a name is known by all that it is. */
const keyOf = (item: unknown): string => (item as { id?: string }).id ?? JSON.stringify(item);
const named = (item: unknown): string => (item as { name?: string }).name ?? keyOf(item);

/** A list: searched, narrowed, in the order that is chosen, page by page. The address of the screen holds all of that. */
export function Collection<Path extends ListPath>(given: CollectionProps<Path>) {
  const { columns, filters = [], sort = '', bulk = [], isUnsettled, isFirst } = given;
  const shown = useSearch({ strict: false }) as Address & { page?: number };
  const navigate = useNavigate();
  const address: typeof shown = given.isBeside ? {} : shown;
  const { page = 0 } = address;
  const list = useList(
    given.path,
    {
      path: given.of,
      query: {
        ...given.query,
        ...askedBy(filters, address),
        search: given.search && address['search'],
        sort: address['sort'],
        page,
        size: PAGE_SIZE,
      },
    },
    { isUnsettled: isUnsettled && (({ items }) => items.some(isUnsettled)) },
  );
  const isAll = !isNarrowed(address, filters);
  const isShort = isAll && page === 0 && (list.data?.total ?? 0) <= FEW;
  // what was narrowed, or done to several, is still to be seen
  const [wasLong, setLong] = useState(false);
  if (!isShort && !wasLong) setLong(true);
  const isWhole = isShort && !wasLong;
  const table = {
    caption: given.caption,
    keyOf,
    sorted: isWhole || given.isBeside ? undefined : (address['sort'] ?? sort),
    empty: isAll ? given.empty : <p>Nothing here matches.</p>,
  };
  const change = (next: Address): void =>
    void navigate({
      to: '.',
      // which screen it is on is not known here
      search: ((before: object) => ({ ...before, ...next, page: undefined })) as never,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      {isWhole || (given.search === undefined && filters.length === 0) ? null : (
        <Filters search={given.search} filters={filters} address={address} onChange={change} />
      )}
      <Loaded query={list}>
        {({ items, total }) => {
          const rows = isFirst ? items.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))) : items;
          return (
            <>
              {(isWhole && !given.isForBulk) || bulk.length === 0 || rows.length === 0 ? (
                <Table {...table} columns={columns} rows={rows} />
              ) : (
                <Selection
                  items={rows}
                  keyOf={keyOf}
                  nameOf={given.nameOf ?? named}
                  one={given.one ?? 'row'}
                  bulk={bulk}
                >
                  {(boxes) => <Table {...table} columns={[boxes, ...columns]} rows={rows} />}
                </Selection>
              )}
              {given.isBeside && total > items.length ? (
                <Muted>and {count(total - items.length, 'other')}</Muted>
              ) : (
                <Pager page={page} size={PAGE_SIZE} total={total} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

interface ScreenProps<Path extends ListPath> extends CollectionProps<Path> {
  readonly title: string;
  /** one sentence: what this is for */
  readonly lead: string;
  /** leads to what makes another one */
  readonly create?: ReactNode;
}

export const CollectionScreen = <Path extends ListPath>({
  title,
  lead,
  create,
  ...list
}: ScreenProps<Path>) => (
  <Page title={title} lead={lead} actions={create}>
    <Section>
      <Collection {...list} />
    </Section>
  </Page>
);

/** The name, which leads to the page of the object. */
export const nameColumn = <Item extends { id: string; name: string }>(to: PathOfOne): Column<Item> => ({
  head: 'Name',
  sort: 'name',
  cell: ({ id, name }) => (
    <Link to={to} params={{ id }}>
      {name}
    </Link>
  ),
});

type PathOfOne =
  | '/resources/$id'
  | '/credentials/$id'
  | '/roles/$id'
  | '/people/$id'
  | '/automation/trusts/$id'
  | '/organization/providers/$id';

/** A time of each row, by which the list can be in order. */
export const timeColumn = <Name extends string>(
  head: string,
  name: Name,
): Column<Readonly<Record<Name, string | null>>> => ({
  head,
  sort: name,
  cell: (item) => <Time at={item[name]} none="never" />,
});
