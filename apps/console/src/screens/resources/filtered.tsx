import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Notice, Pager } from '../../ui';
import styles from './resources.module.css';

const SIZE = 50;
/** Shorter lists are read, not searched. */
const SEARCHED_FROM = 8;

interface Props<Item> {
  /** of the search field */
  readonly label: string;
  readonly items: readonly Item[];
  /** what a search looks at */
  readonly textOf: (item: Item) => string;
  /** from the address */
  readonly q?: string;
  readonly page?: number;
  readonly children: (rows: readonly Item[]) => ReactNode;
}

/** A list with a search field and pages, both part of the address. */
export function Filtered<Item>({ label, items, textOf, q = '', page = 0, children }: Props<Item>) {
  const navigate = useNavigate();
  const wanted = q.trim().toLowerCase();
  const found = items.filter((item) => textOf(item).toLowerCase().includes(wanted));
  const shown = Math.min(page, Math.max(0, Math.ceil(found.length / SIZE) - 1));
  return (
    <>
      {items.length >= SEARCHED_FROM || q ? (
        <input
          className={styles['search']}
          type="search"
          aria-label={label}
          placeholder={label}
          value={q}
          onChange={({ target }) =>
            // which screen it is on is not known here
            void navigate({ to: '.', search: { q: target.value || undefined } as never, replace: true })
          }
        />
      ) : null}
      {found.length === 0 && wanted ? (
        <Notice>Nothing contains “{q}”.</Notice>
      ) : (
        children(found.slice(shown * SIZE, (shown + 1) * SIZE))
      )}
      <Pager page={shown} size={SIZE} total={found.length} />
    </>
  );
}
