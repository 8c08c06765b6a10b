import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { List } from '../api';
import { Loaded, Pager, Table, type Column } from '../ui';

/** of each page of a list */
export const PAGE_SIZE = 50;

interface ListedProps<Item> {
  readonly caption: string;
  readonly query: UseQueryResult<List<Item>>;
  /** counted from 0 */
  readonly page?: number | undefined;
  readonly columns: readonly Column<Item>[];
  readonly empty: ReactNode;
}

/** One page of a list, with links to the others. An item without an id is known by all that it is. */
export const Listed = <Item extends object>({ query, page = 0, ...table }: ListedProps<Item>) => (
  <Loaded query={query}>
    {({ items, total }) => (
      <>
        <Table
          {...table}
          rows={items}
          keyOf={(item) => ('id' in item ? String(item.id) : JSON.stringify(item))}
        />
        <Pager page={page} size={PAGE_SIZE} total={total} />
      </>
    )}
  </Loaded>
);
