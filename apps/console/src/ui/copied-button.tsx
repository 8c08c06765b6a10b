import { useBlocker } from '@tanstack/react-router';
import { useRef } from 'react';
import { Button } from './button';

interface CopiedProps {
  readonly label?: string;
  readonly onCopied: () => void;
}

/** The way on from what is shown this once: every other way asks first. */
export function CopiedButton({ label = 'I have copied it', onCopied }: CopiedProps) {
  const isCopied = useRef(false);
  useBlocker({
    shouldBlockFn: () => !isCopied.current && !window.confirm('This is shown once. Leave without a copy?'),
    enableBeforeUnload: () => !isCopied.current,
  });
  const leave = (): void => {
    isCopied.current = true;
    onCopied();
  };
  return (
    <Button kind="primary" onClick={leave}>
      {label}
    </Button>
  );
}
