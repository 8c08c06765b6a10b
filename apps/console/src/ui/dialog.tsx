import { useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { untilAnswered, type Ending } from '../api';
import { Button, type ButtonKind } from './button';
import { unbroken } from './code';
import { focusOn } from './focus';
import { Form, type Entered, type FormProps } from './form';
import { Unanswered } from './unanswered';
import styles from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog, open as long as it is drawn. Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // closed while it is still there: the browser gives the focus back to what opened it
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    const field = shown.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea');
    // a question is read before anything is chosen
    if (field) field.focus();
    else focusOn(shown.querySelector('h2'));
    return () => shown.close();
  }, []);
  return (
    <dialog ref={dialog} className={styles['dialog']} aria-labelledby={id} onClose={onClose}>
      <div className={styles['content']}>
        <h2 id={id}>{unbroken(title)}</h2>
        {children}
        <Unanswered />
      </div>
    </dialog>
  );
}

interface ConfirmProps<Result> {
  /** of the button that opens the dialog */
  readonly label: string;
  readonly kind?: ButtonKind;
  /** a question that names the object */
  readonly title: string;
  /** what it does, and what it closes; drawn when the dialog opens */
  readonly children: ReactNode;
  /** of the button that does it; left out: as the first button */
  readonly confirm?: string;
  /** of that button; left out: as `kind`, or dangerous */
  readonly submitKind?: ButtonKind;
  /** set: it ends access, and is repeated until it is answered, as what the title asks */
  readonly ends?: Omit<Ending, 'what'>;
  /** @param entered into fields among the children @param signal of one try; null: there is one only */
  readonly act: (entered: Entered, signal: AbortSignal | null) => Promise<Result>;
  /** see `Form` */
  readonly onDone?: () => unknown;
  /** what it has done; left out: what the title asks */
  readonly announcement?: (result: Result) => string;
}

/** A button for what cannot be undone: it asks first. */
export const ConfirmButton = <Result,>({
  label,
  kind = 'danger',
  title,
  children,
  ends,
  ...rest
}: ConfirmProps<Result>) => (
  <FormButton
    label={label}
    kind={kind}
    title={title}
    send={(entered) =>
      ends
        ? untilAnswered({ what: title.slice(0, -1), ...ends }, (signal) => rest.act(entered, signal))
        : rest.act(entered, null)
    }
    submit={rest.confirm ?? label}
    submitKind={rest.submitKind ?? (kind === 'primary' ? kind : 'danger')}
    announcement={(result) => (result && rest.announcement?.(result)) ?? `${title.slice(0, -1)}: done.`}
    onDone={() => rest.onDone?.()}
  >
    {children}
  </FormButton>
);

type FormButtonProps<Result> = Omit<OpenerProps, 'children'> & Omit<FormProps<Result>, 'onCancel'>;

/** A button that opens a form in a dialog, which closes when that was sent. */
export const FormButton = <Result,>({ label, kind, title, onDone, ...form }: FormButtonProps<Result>) => (
  <DialogButton label={label} kind={kind ?? 'normal'} title={title}>
    {(close) => (
      <Form
        {...form}
        onCancel={close}
        onDone={(result) => {
          close();
          return onDone?.(result);
        }}
      />
    )}
  </DialogButton>
);

interface OpenerProps {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly title: string;
  readonly children: (close: () => void) => ReactNode;
}

export function DialogButton({ label, kind = 'normal', title, children }: OpenerProps) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button kind={kind} aria-haspopup="dialog" aria-description={title} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen ? (
        <Dialog title={title} onClose={close}>
          {children(close)}
        </Dialog>
      ) : null}
    </>
  );
}
