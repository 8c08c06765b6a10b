import { useEffect, useRef, useState } from 'react';
import type { ListParameters } from '../api';
import { Button, fromLocalField, SelectField, TextField, toLocalField, useTyped, type Tone } from '../ui';
import { ChoiceField } from './choosing';
import { wordsIn } from './labels';
import styles from './parts.module.css';

/** What the address of a screen holds of its list. */
export type Address = Readonly<Record<string, string | undefined>>;

/** A part of the address that narrows a list: one of some values, a thing of another list, a time, or a text. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** texts of values */
  readonly options?: Readonly<Record<string, string>>;
  readonly from?: '/api/v1/resources' | '/api/v1/users' | '/api/v1/roles' | '/api/v1/credentials';
  /** of `from` */
  readonly query?: ListParameters['query'];
  readonly isTime?: boolean;
  /** of a text */
  readonly placeholder?: string;
  /** several texts, with commas between them */
  readonly isMany?: boolean;
}

/** Both, of a list that grows with time. */
export const TIMES: readonly Filter[] = [
  { name: 'from', label: 'From', isTime: true },
  { name: 'to', label: 'To', isTime: true },
];

/** As the API is asked. */
export const askedBy = (filters: readonly Filter[], address: Address): ListParameters['query'] =>
  Object.fromEntries(
    filters.map(({ name, isMany }) => {
      const value = address[name];
      return [name, isMany ? value && wordsIn(value) : value];
    }),
  );

const ENABLED = { ENABLED: 'enabled', DISABLED: 'disabled' };

export const stateFilter = (options: Readonly<Record<string, string>> = ENABLED): Filter => ({
  name: 'state',
  label: 'State',
  options,
});

/** The state of what can be disabled, and fail. */
export const WORKING = stateFilter({ ...ENABLED, FAILING: 'failing' });

/** The filter `status`. @param texts as badges show them */
export const statusFilter = (
  texts: Readonly<Record<string, readonly [text: string, tone: Tone]>>,
): Filter => ({
  name: 'status',
  label: 'Status',
  options: Object.fromEntries(Object.entries(texts).map(([status, [text]]) => [status, text])),
});

export const RESOURCE: Filter = { name: 'resourceId', label: 'Resource', from: '/api/v1/resources' };
export const PERSON: Filter = { name: 'userId', label: 'Person', from: '/api/v1/users' };
export const ROLE: Filter = { name: 'roleId', label: 'Role', from: '/api/v1/roles' };

interface FiltersProps {
  /** what the search looks in; left out: there is none */
  readonly search?: string | undefined;
  readonly filters: readonly Filter[];
  readonly address: Address;
  readonly onChange: (change: Address) => void;
}

/** Whether a list is narrowed by anything. */
export const isNarrowed = (address: Address, filters: readonly Filter[]): boolean =>
  address['search'] !== undefined || filters.some(({ name }) => address[name] !== undefined);

/** The fields above a list that narrow it. The address of the screen holds their values. */
export function Filters({ search, filters, address, onChange }: FiltersProps) {
  const clear = (): void =>
    onChange(
      Object.fromEntries(['search', ...filters.map(({ name }) => name)].map((name) => [name, undefined])),
    );
  return (
    <form
      role="search"
      aria-label="Filters"
      className={styles['filters']}
      noValidate
      onSubmit={(event) => event.preventDefault()}
    >
      {search === undefined ? null : (
        <SearchField
          label={`Search: ${search}`}
          value={address['search'] ?? ''}
          onChange={(text) => onChange({ search: text || undefined })}
        />
      )}
      {filters.map((filter) => (
        <FilterField
          key={filter.name}
          of={filter}
          value={address[filter.name]}
          onChange={(value) => onChange({ [filter.name]: value || undefined })}
        />
      ))}
      {isNarrowed(address, filters) ? (
        <Button kind="plain" onClick={clear}>
          Clear filters
        </Button>
      ) : null}
    </form>
  );
}

/** Searches while one types. `/` leads to it. @param given `value` as the address has it */
function SearchField(given: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = given;
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const typed = useTyped(text);
  // another address was opened; a space at the end is no other search
  useEffect(() => setText((before) => (before.trim() === value ? before : value)), [value]);
  useEffect(() => {
    if (typed === text.trim() && typed !== value) onChange(typed);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only what is typed asks for another list
  }, [typed]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={label}
      maxLength={100}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}

interface FieldProps {
  readonly of: Filter;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function FilterField({ of: { name, label, options, from, ...filter }, value = '', onChange }: FieldProps) {
  const field = { name, label, value, onChange };
  if (from) return <ChoiceField {...field} from={from} query={filter.query} none="any" />;
  if (options) {
    const unknown = value === '' || value in options ? {} : { [value]: value };
    return <SelectField {...field} options={[['', 'any'], ...Object.entries({ ...options, ...unknown })]} />;
  }
  const shown = filter.isTime ? toLocalField(value || undefined) : value;
  const apply = (entered: string): void => {
    if (entered !== shown) onChange(filter.isTime ? fromLocalField(entered) : entered.trim());
  };
  return (
    <TextField
      key={shown}
      name={name}
      label={label}
      type={filter.isTime ? 'datetime-local' : 'text'}
      placeholder={filter.placeholder ?? 'any'}
      defaultValue={shown}
      onBlur={({ target }) => apply(target.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') apply(currentTarget.value);
      }}
    />
  );
}
