import { useEffect, useId, useState, type InputHTMLAttributes, type ReactNode } from 'react';
import type { ComponentProps, TextareaHTMLAttributes } from 'react';
import { unbroken } from './code';
import { messageFor, useProblem } from './field-problems';
import styles from './form.module.css';

interface FieldProps {
  /** of the field in the API's request, where it has one */
  readonly name: string;
  readonly label: string;
  readonly help?: ReactNode;
  readonly required?: boolean | undefined;
}

type Described = Pick<
  InputHTMLAttributes<HTMLElement> & { id: string; name: string },
  'id' | 'name' | 'required' | 'aria-describedby' | 'aria-invalid'
>;

/** A labelled field with its help and its problem. @param control draws the field itself */
function Labelled(given: FieldProps & { control: (given: Described) => ReactNode }) {
  const { name, label, help, required = true, control } = given;
  const id = useId();
  const problem = useProblem(name);
  const described = [help ? `${id}-help` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ');
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>
        {label} {required ? null : <span className={styles['optional']}>(optional)</span>}
      </label>
      {control({
        id,
        name,
        required,
        ...(described ? { 'aria-describedby': described } : {}),
        ...(problem ? { 'aria-invalid': true } : {}),
      })}
      {problem ? (
        <p id={`${id}-problem`} className={styles['problem']}>
          {messageFor(label, problem)}
        </p>
      ) : null}
      <Help id={id}>{help}</Help>
    </div>
  );
}

/** What the field with this id is described by. */
export const Help = ({ id, children }: { readonly id: string; readonly children: ReactNode }) =>
  children ? (
    <div id={`${id}-help`} className={styles['help']}>
      {unbroken(children)}
    </div>
  ) : null;

/** One line. It is required unless `required={false}`. Further attributes go to the input. */
export function TextField(given: FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, keyof FieldProps>) {
  const { name, label, help, required, ...rest } = given;
  const control = (field: Described) => <input type="text" autoComplete="off" {...rest} {...field} />;
  return <Labelled {...{ name, label, help, required, control }} />;
}

/** A code of a second factor, which `Entered.code` reads. */
export const CodeField = (given: Partial<ComponentProps<typeof TextField>>) => (
  <TextField name="code" label="Code" autoComplete="one-time-code" {...given} />
);

const TYPING_MS = 300;

/** What is typed, once there is a pause. */
export function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed.trim();
}

/** Several lines, such as a key or a document. */
export function TextArea(
  given: FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, keyof FieldProps>,
) {
  const { name, label, help, required, ...rest } = given;
  const control = (field: Described) => <textarea spellCheck={false} {...rest} {...field} />;
  return <Labelled {...{ name, label, help, required, control }} />;
}

interface SelectProps extends FieldProps {
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly defaultValue?: string;
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

export function SelectField({ options, defaultValue, value, onChange, ...field }: SelectProps) {
  return (
    <Labelled
      {...field}
      control={(given) => (
        <select
          {...given}
          {...(value === undefined ? { defaultValue } : { value })}
          onChange={(event) => onChange?.(event.target.value)}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}

interface CheckProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'name'> {
  readonly name: string;
  readonly label: ReactNode;
  readonly help?: ReactNode;
}

/** Yes or no. Further attributes go to the checkbox. */
export function CheckField({ name, label, help, ...rest }: CheckProps) {
  const id = useId();
  const problem = useProblem(name);
  return (
    <div className={styles['check']}>
      <input
        type="checkbox"
        {...rest}
        id={id}
        name={name}
        {...(help ? { 'aria-describedby': `${id}-help` } : {})}
        {...(problem ? { 'aria-invalid': true } : {})}
      />
      <label htmlFor={id}>{label}</label>
      <Help id={id}>{help}</Help>
      {problem ? <p className={styles['problem']}>{problem}</p> : null}
    </div>
  );
}
