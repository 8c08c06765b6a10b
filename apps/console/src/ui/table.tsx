import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { unbroken } from './code';
import styles from './table.module.css';

export interface Column<Item> {
  /** empty: of buttons; its cells have no heading */
  readonly head: string;
  readonly cell: (item: Item) => ReactNode;
  /** as the list is asked to be in order of it */
  readonly sort?: string;
  /** in the place of the head */
  readonly drawn?: ReactNode;
}

interface TableProps<Item> {
  /** what the rows are, for who does not see the table */
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly rows: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** what it is in order of, descending with a `-`; left out: its heads do not change that */
  readonly sorted?: string | undefined;
  /** instead of a table without rows */
  readonly empty: ReactNode;
}

/** A table; cards where there is no room for columns. */
export function Table<Item>({ caption, columns, rows, keyOf, sorted, empty }: TableProps<Item>) {
  if (rows.length === 0) return empty;
  return (
    // cards are no rows of a table to a browser unless it is stated
    <table className={styles['table']} role="table" data-sorted={sorted}>
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Head key={column.head} of={column} sorted={sorted} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((item) => (
          <tr key={keyOf(item)} role="row">
            {columns.map(({ head, cell }) => (
              <td key={head} data-label={head} role="cell">
                {/* one child: in a card, the cell is a grid */}
                <div>{unbroken(cell(item))}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The address of the screen holds the order, as it holds the page (`?sort=-name`). */
function Head<Item>({ of: { head, sort, drawn }, sorted }: { of: Column<Item>; sorted: string | undefined }) {
  const order = sorted === sort ? 'ascending' : sorted === `-${sort}` ? 'descending' : 'none';
  if (sort === undefined || sorted === undefined)
    return (
      <th scope="col" role="columnheader">
        {drawn ?? (head || <span hidden>Actions</span>)}
      </th>
    );
  return (
    <th scope="col" role="columnheader" aria-sort={order}>
      <Here change={{ sort: order === 'ascending' ? `-${sort}` : sort, page: undefined }}>
        {head} <span aria-hidden="true">{{ ascending: '▲', descending: '▼', none: '' }[order]}</span>
      </Here>
    </th>
  );
}

interface PagerProps {
  /** counted from 0 */
  readonly page: number;
  readonly size: number;
  readonly total: number;
}

/** Links to the pages beside; the page is part of the address (`?page=`). */
export function Pager({ page, size, total }: PagerProps) {
  if (total <= size && page === 0) return null;
  const last = Math.max(0, Math.ceil(total / size) - 1);
  return (
    <nav className={styles['pager']} aria-label="Pages">
      <span>
        {page * size + 1} to {Math.min(total, (page + 1) * size)} of {total}
      </span>
      <span>
        {page > 0 ? <PageLink to={page - 1}>Previous</PageLink> : null}{' '}
        {page < last ? <PageLink to={page + 1}>Next</PageLink> : null}
      </span>
    </nav>
  );
}

const PageLink = ({ to, children }: { readonly to: number; readonly children: string }) => (
  <Here change={{ page: to || undefined }}>{children}</Here>
);

/** A link to the same screen with another address. */
const Here = ({ change, children }: { readonly change: object; readonly children: ReactNode }) => (
  // which screen it is on, and what else its address holds, is not known here
  <Link to="." search={((before: object) => ({ ...before, ...change })) as never}>
    {children}
  </Link>
);
