import { useId, useState, type ReactNode } from 'react';
import { useProblem, messageFor } from './field-problems';
import { CheckField } from './fields';
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
}

/** Longer lists can be searched. */
const SEARCHED_FROM = 8;

/** Several of many: checkboxes, with a search in longer lists. What is chosen comes first, and stays chosen while hidden. */
export function Picker({ name, label, help, choices, chosen = [], onChange, empty }: PickerProps) {
  const id = useId();
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(chosen));
  const [initially] = useState<ReadonlySet<string>>(selected);
  const [search, setSearch] = useState('');
  const problem = useProblem(name);
  const wanted = search.trim().toLowerCase();
  const found = choices.filter(({ text, detail }) =>
    `${text}\n${typeof detail === 'string' ? detail : ''}`.toLowerCase().includes(wanted),
  );
  const ordered = [...found.filter(isFirst), ...found.filter((choice) => !isFirst(choice))];
  function isFirst({ value }: Choice): boolean {
    return initially.has(value);
  }
  const toggle = (value: string): void => {
    const next = new Set(selected);
    if (!next.delete(value)) next.add(value);
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
      {choices.length >= SEARCHED_FROM ? (
        <input
          type="search"
          aria-label={`Search: ${label}`}
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      ) : null}
      {choices.length === 0 ? (
        <div className={styles['help']}>{empty ?? 'There is nothing to choose from yet.'}</div>
      ) : (
        <div className={styles['choices']}>
          {ordered.map(({ value, text, detail }) => (
            <CheckField
              key={value}
              // not sent: what is hidden by the search is chosen, too
              name=""
              label={text}
              help={detail}
              checked={selected.has(value)}
              onChange={() => toggle(value)}
            />
          ))}
          {ordered.length === 0 ? <p className={styles['help']}>Nothing here contains “{search}”.</p> : null}
        </div>
      )}
      {problem ? <p className={styles['problem']}>{messageFor(label, problem)}</p> : null}
      {help ? (
        <div id={`${id}-help`} className={styles['help']}>
          {help}
        </div>
      ) : null}
    </fieldset>
  );
}
