import { Link } from '@tanstack/react-router';
import { Children, type ReactNode } from 'react';
import { Muted, unbroken } from '../ui';
import styles from './parts.module.css';

/** A code of the API in words: SESSION_EXPIRED is "session expired". */
export const wordsOf = (code: string): string =>
  code
    .toLowerCase()
    .replaceAll('_', ' ')
    .replaceAll(/\b(?:mfa|api|oidc|ip)\b/g, (word) => word.toUpperCase());

/** As sentences begin. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** "no roles", "1 role", "2 roles" */
export const count = (number: number, one: string): string =>
  `${number || 'no'} ${one}${number === 1 ? '' : 's'}`;

/** Of many, the first two and how many others: "Ledger, Search and 38 more" */
export function inShort(names: readonly string[]): string {
  if (names.length > 3) return `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
  return [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');
}

/** Some things, one a line, and how many there are besides. */
export const Some = ({ of, total = of.length, one = 'other' }: SomeProps) => (
  <ul className={styles['some']}>
    {of.map((text, index) => (
      <li key={`${index} ${text}`}>{unbroken(text)}</li>
    ))}
    {total > of.length ? <li>and {count(total - of.length, one)}</li> : null}
  </ul>
);

type SomeProps = { of: readonly string[]; total?: number; one?: string };

/** Several lines in one cell of a table. */
export const Lines = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['lines']}>
    {Children.map(children, (line) => (typeof line === 'string' ? <span>{unbroken(line)}</span> : line))}
  </div>
);

/** Why something is not as it should be, or what to know about it. */
export const Reason = ({ isBad = false, children }: { isBad?: boolean; children: ReactNode }) => (
  <span className={isBad ? styles['bad'] : styles['detail']}>{unbroken(children)}</span>
);

type LinkProps = { readonly id: string; readonly children: ReactNode };

const linkTo =
  (page: '/sessions/$id' | '/requests/$id' | '/resources/$id' | '/static-rules/$id' | '/roles/$id') =>
  ({ id, children }: LinkProps) => (
    <Link to={page} params={{ id }}>
      {children}
    </Link>
  );

export const SessionLink = linkTo('/sessions/$id');
export const RequestLink = linkTo('/requests/$id');
/** For administrators, as those that follow. */
export const ResourceLink = linkTo('/resources/$id');
export const StaticRuleLink = linkTo('/static-rules/$id');
export const RoleLink = linkTo('/roles/$id');

/** Leads to the page of a person or a service user. */
export const UserLink = ({ id, children }: LinkProps) => (
  <Link to="/people/$id" params={{ id }}>
    {unbroken(children)}
  </Link>
);

/** A person or a service user in a list. @param children between the name and the address */
export const UserLines = (given: { id: string; name: string; email: string; children?: ReactNode }) => (
  <Lines>
    <UserLink id={given.id}>{given.name}</UserLink>
    {given.children}
    <Muted>{given.email}</Muted>
  </Lines>
);

/** Where access is recorded elsewhere: a link when it is an address. */
export const Ticket = ({ children }: { children: string }) =>
  /^https?:\/\/\S+$/.test(children) ? (
    <a href={children} target="_blank" rel="noreferrer">
      {children}
    </a>
  ) : (
    children
  );
