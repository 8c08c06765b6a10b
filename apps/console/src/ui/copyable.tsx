import { useRef, useState } from 'react';
import { Button } from './button';
import styles from './status.module.css';

/** A text to paste elsewhere, with a button that copies it. @param label what it is */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState<string | null>(null);
  const shown = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      // pages from http have no clipboard, and a person may forbid it: select it instead
      if (shown.current) window.getSelection()?.selectAllChildren(shown.current);
      setDone('Selected');
    }
    setTimeout(() => setDone(null), 2000);
  };
  return (
    <div className={styles['copyable']}>
      <pre ref={shown} tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <Button aria-label={`Copy: ${label}`} onClick={() => void copy()}>
        <span role="status">{done ?? 'Copy'}</span>
      </Button>
    </div>
  );
}
