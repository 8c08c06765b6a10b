import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './oversight.module.css';

interface LinkTo {
  readonly id: string;
  readonly name: string;
}

export const PersonLink = ({ id, name }: LinkTo) => (
  <Link to="/people/$id" params={{ id }}>
    {name}
  </Link>
);

export const ResourceLink = ({ id, name }: LinkTo) => (
  <Link to="/resources/$id" params={{ id }}>
    {name}
  </Link>
);

export const SessionLink = ({ id, name }: LinkTo) => (
  <Link to="/sessions/$id" params={{ id }}>
    {name}
  </Link>
);

/** An IP address or a range. */
export const Address = ({ of }: { readonly of: string }) => <code className={styles['address']}>{of}</code>;

/** What was recorded about an object. */
export const AuditLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => (
  <Link to="/audit" search={{ resourceId: id }}>
    {children}
  </Link>
);

/** Several lines in one cell of a table. */
export const Lines = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['lines']}>{children}</div>
);

/** Why something is not as it should be, or what to know about it. */
export const Reason = ({
  isBad = false,
  children,
}: {
  readonly isBad?: boolean;
  readonly children: ReactNode;
}) => <span className={`${styles['reason']} ${isBad ? styles['bad'] : ''}`}>{children}</span>;

/** A code of the API in words: SESSION_EXPIRED is "Session expired". */
export function codeText(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  const text = words.replaceAll(/\b(mfa|api|oidc|ip)\b/g, (word) => word.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}
