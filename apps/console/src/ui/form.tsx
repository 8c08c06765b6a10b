import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { asFailure, type Failure } from '../api';
import { Button, type ButtonKind } from './button';
import { FieldProblems } from './field-problems';
import { announce } from './announcement';
import { Notice } from './status';
import styles from './form.module.css';

/** What was entered, by name of the field. */
export class Entered {
  constructor(private readonly data: FormData) {}

  /** Without spaces around it; empty when nothing was entered. */
  text(name: string): string {
    return this.raw(name).trim();
  }

  /** As entered: a password may begin with a space. */
  raw(name: string): string {
    const value = this.data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** Of a second factor: people enter it in groups. */
  code(name: string): string {
    return this.text(name).replaceAll(' ', '');
  }

  /** undefined when nothing was entered, so that the field is left out of a request */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  number(name: string): number {
    return Number(this.text(name));
  }

  checked(name: string): boolean {
    return this.data.has(name);
  }

  /** The chosen values of a `Picker`, or of checkboxes with one name. */
  all(name: string): string[] {
    return this.data.getAll(name).filter((value) => typeof value === 'string');
  }
}

export interface FormProps<Result> {
  /** sends what was entered; a `Failure` lands on the fields that it names */
  readonly send: (entered: Entered) => Promise<Result>;
  /** A promise, such as of another screen, is waited for before what is shown is read again: a deleted object is not. */
  readonly onDone?: (result: Result) => unknown;
  readonly submit: string;
  readonly submitKind?: ButtonKind;
  /** the button is what the screen is for: large, and above the fields, which have sensible values already */
  readonly submitFirst?: boolean;
  /** what the button says while it waits */
  readonly busy?: string;
  /** fields of a request that have another name on this form */
  readonly alias?: Readonly<Record<string, string>>;
  /** shown after a success, by a form that stays on the screen */
  readonly done?: string;
  /** announced after a success, by a form in a dialog, which is gone then; left out: that it is done */
  readonly announcement?: (result: Result) => string;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

/** A form that sends one request. What was entered stays when it is refused; a link away from it asks first. */
export function Form<Result>({ send, onDone, submit, children, alias = {}, ...rest }: FormProps<Result>) {
  const form = useRef<HTMLFormElement>(null);
  // the second of two quick clicks comes before anything is drawn again
  const isSending = useRef(false);
  const isTyped = useRef(false);
  useBlocker({
    shouldBlockFn: () =>
      isTyped.current && !isSending.current && !window.confirm('Leave? What you have entered is not saved.'),
    enableBeforeUnload: false,
  });
  const { mutate, isPending, isSuccess, error } = useMutation<Result, unknown, Entered>({
    mutationFn: send,
    onMutate: () => announce(null),
    onSuccess: (result) => {
      isTyped.current = false;
      if (rest.onCancel) announce(rest.announcement?.(result) ?? `${submit}: done.`);
      // a late answer: the person has gone on meanwhile
      return form.current ? onDone?.(result) : undefined;
    },
    onSettled: () => {
      isSending.current = false;
    },
  });
  const failure = error === null ? null : asFailure(error);
  useEffect(() => {
    if (failure) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [failure]);
  const buttons = (
    <div className={styles['actions']}>
      <Button
        type="submit"
        kind={rest.submitKind ?? 'primary'}
        large={rest.submitFirst ?? false}
        busy={isPending && (rest.busy ?? 'One moment…')}
      >
        {submit}
      </Button>
      {rest.onCancel ? <Button onClick={rest.onCancel}>Cancel</Button> : null}
    </div>
  );
  return (
    <form
      ref={form}
      className={styles['form']}
      // a dialog is left by its own buttons; outside of the frame, such as where one signs in, nothing is lost
      onInput={({ currentTarget, target }) => {
        if (currentTarget.closest('#content') && !currentTarget.closest('dialog'))
          isTyped.current ||= isText(target);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        // a dialog may contain a form and lie in another
        event.stopPropagation();
        if (isSending.current) return;
        isSending.current = true;
        mutate(new Entered(new FormData(event.currentTarget)));
      }}
    >
      {rest.submitFirst ? buttons : null}
      <FieldProblems value={{ fields: failure?.fields ?? {}, alias }}>{children}</FieldProblems>
      {failure ? (
        <Refusal
          failure={failure}
          isShown={(field) => Boolean(form.current?.elements.namedItem(alias[field] ?? field))}
        />
      ) : null}
      {isSuccess && rest.done ? (
        <Notice tone="good" announced>
          {rest.done}
        </Notice>
      ) : null}
      {rest.submitFirst ? null : buttons}
    </form>
  );
}

const isText = (field: EventTarget): boolean =>
  field instanceof HTMLTextAreaElement || (field instanceof HTMLInputElement && field.type === 'text');

/** The API's sentence, unless the form shows the messages of all fields that are in it. */
function Refusal({ failure, isShown }: { readonly failure: Failure; isShown: (field: string) => boolean }) {
  const fields = Object.keys(failure.fields);
  const isOnForm = fields.length > 0 && fields.every(isShown);
  return (
    <Notice tone="bad" announced>
      {isOnForm ? 'Not accepted: see the marked fields.' : failure.message}
    </Notice>
  );
}
