import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';
import styles from './button.module.css';

export type ButtonKind = 'normal' | 'primary' | 'danger' | 'plain';

interface Look {
  readonly kind?: ButtonKind | undefined;
  readonly large?: boolean | undefined;
}

const classes = ({ kind = 'normal', large }: Look): string =>
  [styles['button'], styles[kind], large && styles['large']].filter(Boolean).join(' ');

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'className'> {
  /** what it waits for, shown instead of its label; it keeps the focus and does nothing meanwhile */
  readonly busy?: string | false | undefined;
  readonly children: ReactNode;
}

export function Button({ kind, large, busy, children, onClick, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={classes({ kind, large })}
      aria-disabled={Boolean(busy)}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy || children}
    </button>
  );
}

interface AnchorProps extends Look, Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'className'> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

function Anchor({ kind, large, ...rest }: AnchorProps) {
  return <a {...rest} className={classes({ kind, large })} />;
}

/** A link that looks like a button, for what leads to another screen. */
export const ButtonLink = createLink(Anchor);
