import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { unbroken } from './code';
import { focusOn } from './focus';
import styles from './layout.module.css';

interface PageProps {
  readonly title: string;
  /** one sentence: what this is for */
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** The path of the screen that is shown: at first, the browser decides on the focus. */
let shownAt: string | null = null;

/** A screen: its heading, which is also the title of the tab, and its sections. */
export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Drawbridge`;
  }, [title]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isNext = shownAt !== null && location.pathname !== shownAt;
    shownAt = location.pathname;
    // a field of the screen may have it
    if (isNext && !document.activeElement?.closest('main')) focusOn(heading.current);
  });
  return (
    <div className={styles['page']}>
      <div className={styles['head']}>
        <h1 ref={heading}>{unbroken(title)}</h1>
        {actions ? <div className={styles['actions']}>{actions}</div> : null}
      </div>
      {lead ? <p className={styles['lead']}>{unbroken(lead)}</p> : null}
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a heading of its own. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className={styles['section']} {...(title ? { 'aria-label': title } : {})}>
      {title || actions ? (
        <div className={styles['head']}>
          {title ? <h2>{title}</h2> : null}
          {actions ? <div className={styles['actions']}>{actions}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}

/** Things below each other. */
export const Stack = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['stack']}>{children}</div>
);

/** Things beside each other, wrapped where there is no room. */
export const Row = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['row']}>{children}</div>
);

/** Names and values of one object. A value null or undefined leaves its line out. */
export const Facts = ({ of }: { readonly of: Readonly<Record<string, ReactNode>> }) => (
  <dl className={styles['facts']}>
    {Object.entries(of).map(([name, value]) =>
      value === null || value === undefined
        ? null
        : [<dt key={name}>{name}</dt>, <dd key={`=${name}`}>{unbroken(value)}</dd>],
    )}
  </dl>
);

export const Muted = ({ children }: { readonly children: ReactNode }) => (
  <span className={`${styles['muted']} ${styles['small']}`}>{unbroken(children)}</span>
);

/** Instead of a list without items: what it would contain, and the next step. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className={styles['empty']}>
    <strong>{title}</strong>
    {children}
  </div>
);

/** Links between the parts of one object; the current one is marked by the router. @param children links */
export const Tabs = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <nav className={styles['tabs']} aria-label={label}>
    {children}
  </nav>
);

interface TabLinksProps {
  readonly label: string;
  /** the text of each, and what the address has as `tab`: undefined for the first one */
  readonly tabs: readonly (readonly [text: string, tab: string | undefined, ...unknown[]])[];
  /** what else of the address stays */
  readonly search?: object;
}

/** Tabs of a screen whose address names the current one. */
export const TabLinks = ({ label, tabs, search }: TabLinksProps) => (
  <Tabs label={label}>
    {tabs.map(([text, tab]) => (
      <Link
        key={text}
        to="."
        // which screen it is on is not known here
        search={{ ...search, tab } as never}
        activeOptions={{ explicitUndefined: true }}
      >
        {text}
      </Link>
    ))}
  </Tabs>
);
