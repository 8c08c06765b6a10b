import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { unbroken } from './code';
import styles from './table.module.css';

export interface Column<Item> {
  /** empty: of buttons; its cells have no heading */
  readonly head: string;
  readonly cell: (item: Item) => ReactNode;
}

interface TableProps<Item> {
  /** what the rows are, for who does not see the table */
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly rows: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** instead of a table without rows */
  readonly empty: ReactNode;
}

/** A table; cards where there is no room for columns. */
export function Table<Item>({ caption, columns, rows, keyOf, empty }: TableProps<Item>) {
  if (rows.length === 0) return empty;
  return (
    // cards are no rows of a table to a browser unless it is stated
    <table className={styles['table']} role="table">
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head }) => (
            <th key={head} scope="col" role="columnheader">
              {head || <span hidden>Actions</span>}
            </th>
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
  // which screen it is on, and what else its address holds, is not known here
  <Link to="." search={((before: object) => ({ ...before, page: to || undefined })) as never}>
    {children}
  </Link>
);
