import { useState, type ReactNode } from 'react';
import type { Ending, Schemas } from '../api';
import { Button, ConfirmButton, Notice, type Column, type Entered } from '../ui';
import styles from './parts.module.css';
import { count, Some } from './words';

/** What can be done to several rows at once. */
export interface Bulk<Item> {
  readonly label: string;
  /** such as " from the role", in the question */
  readonly where?: string;
  /** left out: it concerns all */
  readonly fits?: (item: Item) => boolean;
  /** what it does, and fields */
  readonly children?: ReactNode;
  /** what it would do to these */
  readonly foreseen?: (ids: string[]) => ReactNode;
  /** set: it ends access, and is repeated until it is answered */
  readonly ends?: Omit<Ending, 'what'>;
  readonly act: (
    ids: string[],
    entered: Entered,
    signal: AbortSignal | null,
  ) => Promise<{ data?: Schemas['BulkResultsDto'] }>;
}

interface SelectionProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** of a row, in words */
  readonly nameOf: (item: Item) => string;
  /** such as "session" */
  readonly one: string;
  readonly bulk: readonly Bulk<Item>[];
  /** @param column of the boxes that select rows */
  readonly children: (column: Column<Item>) => ReactNode;
}

/** Of a dialog that names what is selected. */
const MAX_NAMED = 10;

/** Rows that are selected, of those that are seen, and what can be done to them. */
export function Selection<Item>({ items, keyOf, nameOf, one, bulk, children }: SelectionProps<Item>) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<readonly string[]>([]);
  const selected = items.filter((item) => ids.has(keyOf(item)));
  const select = (next: readonly Item[]): void => {
    setIds(new Set(next.map(keyOf)));
    setRefused([]);
  };
  const areAll = selected.length === items.length;
  const boxes: Column<Item> = {
    head: 'Select',
    drawn: (
      <input
        type="checkbox"
        aria-label={`Select all ${items.length} on this page`}
        checked={areAll}
        ref={(box) => {
          if (box) box.indeterminate = selected.length > 0 && !areAll;
        }}
        onChange={() => select(areAll ? [] : items)}
      />
    ),
    cell: (item) => (
      <input
        type="checkbox"
        aria-label={`Select ${nameOf(item)}`}
        checked={selected.includes(item)}
        onChange={() =>
          select(selected.includes(item) ? selected.filter((each) => each !== item) : [...selected, item])
        }
      />
    ),
  };
  const act = ({ label, fits = () => true, ...rest }: Bulk<Item>): ReactNode => {
    const meant = selected.filter(fits);
    const what = `${label} ${count(meant.length, one)}`;
    if (meant.length === 0) return null;
    return (
      <ConfirmButton
        key={label}
        kind="normal"
        label={`${label}${meant.length === selected.length ? '' : ` ${meant.length}`}…`}
        title={`${what}${rest.where ?? ''}?`}
        submitKind={rest.ends || rest.foreseen ? 'danger' : 'primary'}
        confirm={label}
        {...(rest.ends ? { ends: rest.ends } : {})}
        act={async (entered, signal) => {
          const { results } = (await rest.act(meant.map(keyOf), entered, signal)).data!;
          const left = results.filter(({ outcome }) => outcome === 'REFUSED');
          const named = (id: string | null): string =>
            nameOf(meant.find((item) => keyOf(item) === id) ?? meant[0]!);
          setIds(new Set(left.map(({ id }) => id ?? '')));
          setRefused(left.map(({ id, message }) => `${named(id)}: ${message}`));
          return results.length - left.length;
        }}
        announcement={(done) =>
          `${what}: ${done} done${done === meant.length ? '.' : `, ${meant.length - done} refused.`}`
        }
      >
        <Some of={meant.slice(0, MAX_NAMED).map(nameOf)} total={meant.length} one={`other ${one}`} />
        {rest.foreseen?.(meant.map(keyOf))}
        {rest.children}
      </ConfirmButton>
    );
  };
  return (
    <>
      {refused.length === 0 ? null : (
        <Notice tone="bad" announced>
          <p>Not done:</p>
          <Some of={refused} />
        </Notice>
      )}
      {selected.length === 0 ? null : (
        <div className={styles['selected']} role="group" aria-label="Selected">
          <strong role="status">{selected.length} selected</strong>
          {bulk.map(act)}
          <Button kind="plain" onClick={() => select([])}>
            Select none
          </Button>
        </div>
      )}
      {children(boxes)}
    </>
  );
}
