import { useEffect, useRef, type ReactNode } from 'react';
import { asFailure, useAll } from '../api';
import { Button, Entered, FieldProblems, SelectField, TextField, toLocalField, zoneName } from '../ui';
import styles from './parts.module.css';

interface FiltersProps {
  /** what the address holds: typed fields follow it */
  readonly search: object;
  /** of the query: what the API says about a filter lands on its field */
  readonly error?: unknown;
  /** takes what was typed; left out: every field applies at once */
  readonly onApply?: (entered: Entered) => void;
  /** left out when nothing is filtered */
  readonly onClear?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** The fields above a list that narrow it. The address of the screen holds their values. */
export function Filters({ search, error, onApply, onClear, children }: FiltersProps) {
  const form = useRef<HTMLFormElement>(null);
  const address = JSON.stringify(search);
  useEffect(() => form.current?.reset(), [address]);
  return (
    <form
      ref={form}
      role="search"
      aria-label="Filters"
      className={styles['filters']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onApply?.(new Entered(new FormData(event.currentTarget)));
      }}
    >
      <FieldProblems value={{ fields: error ? asFailure(error).fields : {}, alias: {} }}>
        {children}
      </FieldProblems>
      {onApply || onClear ? (
        <div className={styles['apply']}>
          {onApply ? <Button type="submit">Show</Button> : null}
          {onClear ? (
            <Button kind="plain" onClick={onClear}>
              Clear filters
            </Button>
          ) : null}
        </div>
      ) : null}
    </form>
  );
}

interface ChoiceProps<Value extends string = string> {
  readonly value: Value | undefined;
  /** undefined: all */
  readonly onChange: (value: Value | undefined) => void;
}

interface SelectFilterProps<Value extends string> extends ChoiceProps<Value> {
  readonly name: string;
  readonly label: string;
  /** the text of no choice */
  readonly all: string;
  readonly options: readonly (readonly [value: Value, text: string])[];
}

/** One of several, or all. It applies at once. */
export function SelectFilter<Value extends string>(given: SelectFilterProps<Value>) {
  const { name, label, all, options, value, onChange } = given;
  const isKnown = value === undefined || options.some(([each]) => each === value);
  const unknown = isKnown ? [] : ([[value, `Another: ${value}`]] as const);
  return (
    <SelectField
      name={name}
      label={label}
      value={value ?? ''}
      // one of the options
      onChange={(chosen) => onChange((chosen as Value) || undefined)}
      options={[['', all], ...options, ...unknown]}
    />
  );
}

/** @param isOwn only those that the person may reach */
export function ResourceFilter({ isOwn, ...choice }: ChoiceProps & { readonly isOwn?: boolean }) {
  const { data = [] } = useAll('/api/v1/resources', isOwn ? { assigned: true } : {});
  const options = data.map(({ id, name }) => [id, name] as const);
  return (
    <SelectFilter name="resourceId" label="Resource" all="Every resource" options={options} {...choice} />
  );
}

/** Of the organization's users, also of those that are not active any more. */
export function UserFilter(choice: ChoiceProps) {
  const { data = [] } = useAll('/api/v1/users');
  const options = data.map(({ id, name, email }) => [id, `${name} (${email})`] as const);
  return <SelectFilter name="userId" label="Person" all="Everybody" options={options} {...choice} />;
}

/** A point in time, entered in the zone that times are shown in. @param given `value` as the API has it */
export const TimeFilter = (given: { name: string; label: string; value: string | undefined }) => (
  <TextField
    name={given.name}
    label={given.label}
    type="datetime-local"
    required={false}
    help={zoneName()}
    defaultValue={toLocalField(given.value)}
  />
);
