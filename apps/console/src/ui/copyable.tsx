import { useState, type MouseEvent } from 'react';
import { Button, type ButtonKind } from './button';
import styles from './status.module.css';

interface CopyProps {
  readonly text: string;
  /** what it is */
  readonly label: string;
  readonly kind?: ButtonKind;
}

/** Copies a text, which is in the element before it. */
export function CopyButton({ text, label, kind = 'normal' }: CopyProps) {
  const [done, setDone] = useState<string | null>(null);
  const copy = async ({ currentTarget }: MouseEvent): Promise<void> => {
    const shown = currentTarget.previousElementSibling!;
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      // pages from http have no clipboard, and a person may forbid it: select it instead
      window.getSelection()?.selectAllChildren(shown);
      setDone('Selected');
    }
    setTimeout(() => setDone(null), 2000);
  };
  return (
    <Button kind={kind} aria-label={`Copy: ${label}`} onClick={(event) => void copy(event)}>
      <span role="status">{done ?? 'Copy'}</span>
    </Button>
  );
}

/** A text to paste elsewhere, with a button that copies it. */
export const Copyable = ({ text, label }: CopyProps) => (
  <div className={styles['copyable']}>
    <pre tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
    <CopyButton text={text} label={label} />
  </div>
);
