import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { asFailure, serverNow } from '../api';
import { Button } from './button';
import { unbroken } from './code';
import { Icon } from './icon';
import styles from './status.module.css';
import { clockText } from './time';

/** `busy`: something is under way and will settle by itself */
export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'busy';

export const Badge = ({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) => <span className={`${styles['badge']} ${tone === 'neutral' ? '' : styles[tone]}`}>{children}</span>;

const ICONS = { neutral: 'info', good: 'check', warn: 'warning', bad: 'warning' } as const;

interface NoticeProps {
  readonly tone?: keyof typeof ICONS;
  /** read out as soon as it appears: for what follows an action of the person */
  readonly announced?: boolean;
  readonly children: ReactNode;
}

/** A message beside the content: a hint, a warning, a refusal. */
export const Notice = ({ tone = 'neutral', announced = false, children }: NoticeProps) => (
  <div
    className={`${styles['notice']} ${tone === 'neutral' ? '' : styles[`notice${tone}`]}`}
    {...(announced ? { role: tone === 'bad' ? 'alert' : 'status' } : {})}
  >
    <Icon name={ICONS[tone]} />
    <div>{unbroken(children)}</div>
  </div>
);

/** Nothing is shown for the first 200 ms. */
export const Loading = ({ what = 'Loading' }: { readonly what?: string }) => (
  <p className={styles['loading']} role="status">
    {what}…
  </p>
);

interface ProblemProps {
  readonly error: unknown;
  readonly retry?: () => void;
  /** of what is shown meanwhile, in milliseconds of the server's clock */
  readonly asOf?: number;
}

/** Why something failed, in the API's words. */
export const Problem = ({ error, retry, asOf }: ProblemProps) => (
  <Notice tone="bad" announced>
    <p>
      {asOf === undefined ? '' : `As of ${clockText(asOf)}. `}
      {unbroken(asFailure(error).message)}
    </p>
    {retry ? (
      <Button kind="plain" onClick={retry}>
        Try again
      </Button>
    ) : null}
  </Notice>
);

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data, unknown>;
  readonly children: (data: Data) => ReactNode;
}

/**
 * What a query returned; before that, that it is loading, or why it failed. What was read before stays on the screen when
 * a later reading fails, with a message; `Stale` is the one while there is no answer at all.
 */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  const { data, error, failureReason } = query;
  const reload = (): void => void query.refetch();
  if (data === undefined) {
    if (error) return <Problem error={error} retry={reload} />;
    return failureReason ? <Notice tone="warn">{asFailure(failureReason).message}</Notice> : <Loading />;
  }
  const failure = error ?? failureReason;
  const isRefused = failure !== null && asFailure(failure).status !== 0;
  const asOf = serverNow() - (Date.now() - query.dataUpdatedAt);
  return (
    <>
      {isRefused ? <Problem error={failure} retry={reload} asOf={asOf} /> : null}
      {children(data)}
    </>
  );
}
