import { useEffect, useRef, type ReactNode } from 'react';
import { asFailure, useAll } from '../../api';
import { Button, Entered, FieldProblems, Filters as Fields, Row, SelectField, TextField } from '../../ui';
import styles from './oversight.module.css';
import { toLocalField } from './search';

interface FiltersProps {
  /** the filters in the address: typed fields follow it */
  readonly search: object;
  /** of the query: what the API says about a filter lands on its field */
  readonly error: unknown;
  /** takes what was typed; left out: every field applies at once */
  readonly onApply?: (entered: Entered) => void;
  /** left out when nothing is filtered */
  readonly onClear?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** The filters of a list, which are kept in the address of its screen. */
export function Filters({ search, error, onApply, onClear, children }: FiltersProps) {
  const form = useRef<HTMLFormElement>(null);
  const address = JSON.stringify(search);
  useEffect(() => form.current?.reset(), [address]);
  const fields = error ? asFailure(error).fields : {};
  return (
    <form
      ref={form}
      className={styles['filters']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onApply?.(new Entered(new FormData(event.currentTarget)));
      }}
    >
      <FieldProblems value={{ fields, alias: {} }}>
        <Fields>{children}</Fields>
      </FieldProblems>
      {onApply || onClear ? (
        <Row>
          {onApply ? <Button type="submit">Show</Button> : null}
          {onClear ? (
            <Button kind="plain" onClick={onClear}>
              Clear filters
            </Button>
          ) : null}
        </Row>
      ) : null}
    </form>
  );
}

interface ChoiceProps {
  readonly value: string | undefined;
  /** undefined: all */
  readonly onChange: (value: string | undefined) => void;
}

interface SelectFilterProps extends ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** the text of no choice */
  readonly all: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** One of several, or all. It applies at once. */
export function SelectFilter({ name, label, all, options, value = '', onChange }: SelectFilterProps) {
  const isKnown = value === '' || options.some(([each]) => each === value);
  const unknown = isKnown ? [] : ([[value, `Another: ${value}`]] as const);
  return (
    <SelectField
      name={name}
      label={label}
      value={value}
      onChange={(chosen) => onChange(chosen || undefined)}
      options={[['', all], ...options, ...unknown]}
    />
  );
}

/** Of the organization's resources. */
export function ResourceFilter(choice: ChoiceProps) {
  const { data = [] } = useAll('/api/v1/resources');
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

/** A point in time, entered as local time. */
export const TimeFilter = (given: {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}) => (
  <TextField
    name={given.name}
    label={given.label}
    type="datetime-local"
    required={false}
    defaultValue={toLocalField(given.value)}
  />
);
