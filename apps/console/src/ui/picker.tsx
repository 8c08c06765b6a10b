import { useId, useState, type ReactNode } from 'react';
import { useProblem, messageFor } from './field-problems';
import { CheckField, Help } from './fields';
import styles from './form.module.css';

export interface Choice {
  readonly value: string;
  readonly text: string;
  /** what tells it from others of the same name */
  readonly detail?: ReactNode;
}

interface PickerProps {
  /** of the field; `Entered.all` reads what was chosen */
  readonly name: string;
  readonly label: string;
  readonly help?: ReactNode;
  readonly choices: readonly Choice[];
  readonly chosen?: readonly string[];
  readonly onChange?: (chosen: readonly string[]) => void;
  /** shown when there is nothing to choose from */
  readonly empty?: ReactNode;
  /** for more choices than are given: asks for those that contain a text; how many there are in all */
  readonly more?: { readonly search: (text: string) => void; readonly total: number };
}

/** Longer lists can be searched. */
const SEARCHED_FROM = 8;

/** Several of many: checkboxes, with a search in longer lists. What is chosen comes first, and stays chosen while hidden. */
export function Picker({ name, label, help, choices, chosen = [], onChange, empty, more }: PickerProps) {
  const id = useId();
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(chosen));
  const [initially] = useState<ReadonlySet<string>>(selected);
  const [search, setSearch] = useState('');
  const problem = useProblem(name);
  const wanted = search.trim().toLowerCase();
  // the last one that is known of each: what was found before is chosen still
  const [met, setMet] = useState<readonly Choice[]>([]);
  const known = [...met.filter(({ value }) => !choices.some((each) => each.value === value)), ...choices];
  const found = (wanted === '' ? known : choices).filter(
    ({ text, detail }) =>
      more || `${text}\n${typeof detail === 'string' ? detail : ''}`.toLowerCase().includes(wanted),
  );
  const ordered = [...found.filter(isFirst), ...found.filter((choice) => !isFirst(choice))];
  function isFirst({ value }: Choice): boolean {
    return initially.has(value);
  }
  const toggle = (choice: Choice): void => {
    const { value } = choice;
    const next = new Set(selected);
    if (!next.delete(value)) next.add(value);
    setMet([...met.filter((each) => each.value !== value), choice]);
    setSelected(next);
    onChange?.([...next]);
  };
  return (
    <fieldset className={styles['field']} {...(help ? { 'aria-describedby': `${id}-help` } : {})}>
      <legend className={styles['legend']}>
        {label} <span className={styles['optional']}>({selected.size} chosen)</span>
      </legend>
      {[...selected].map((value) => (
        <input key={value} type="hidden" name={name} value={value} />
      ))}
      {search !== '' || choices.length >= SEARCHED_FROM ? (
        <input
          type="search"
          aria-label={`Search: ${label}`}
          placeholder="Search"
          value={search}
          onChange={({ target }) => {
            setSearch(target.value);
            more?.search(target.value);
          }}
        />
      ) : null}
      {choices.length === 0 && search === '' ? (
        <div className={styles['help']}>{empty ?? 'There is nothing to choose from yet.'}</div>
      ) : (
        <div className={styles['choices']}>
          {ordered.map((choice) => (
            <CheckField
              key={choice.value}
              // not sent: what is hidden by the search is chosen, too
              name=""
              label={choice.text}
              help={choice.detail}
              checked={selected.has(choice.value)}
              onChange={() => toggle(choice)}
            />
          ))}
          {more && more.total > choices.length ? (
            <p className={styles['help']}>
              {choices.length} of {more.total}: search for the others.
            </p>
          ) : null}
          {ordered.length === 0 ? <p className={styles['help']}>Nothing here contains “{search}”.</p> : null}
        </div>
      )}
      {problem ? <p className={styles['problem']}>{messageFor(label, problem)}</p> : null}
      <Help id={id}>{help}</Help>
    </fieldset>
  );
}
