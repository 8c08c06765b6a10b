import { useSyncExternalStore } from 'react';
import { dismissEnding, silentSince, unanswered } from '../api';
import { Button } from './button';
import { unbroken } from './code';
import { Notice } from './status';
import { clockText } from './time';

const TRIED_AGAIN =
  'no answer from the server, so it is not known whether this was done. It is tried again until there is one, as long as this tab is open.';
const OPEN_MEANWHILE = 'Until then, what is open stays open until its own end.';

/** What was to end access, and is not known to have done so. Drawn above every screen, and in dialogs, which hide that. */
export const Unanswered = () =>
  useSyncExternalStore(unanswered.follow, unanswered.get).map((ending, index) => (
    <Notice key={`${index} ${ending.what}`} tone="warn" announced>
      <p>
        {unbroken(ending.what)}: {ending.outcome ?? TRIED_AGAIN}
      </p>
      <p>{ending.meanwhile ?? OPEN_MEANWHILE}</p>
      {ending.outcome === null ? null : (
        <Button kind="plain" onClick={() => dismissEnding(ending)}>
          Dismiss
        </Button>
      )}
    </Notice>
  ));

/** How old everything on the screen is, as soon as the server gives no answer. */
export function Stale() {
  const since = useSyncExternalStore(silentSince.follow, silentSince.get);
  return (
    <div role="status">
      {since === null ? null : (
        <Notice tone="warn">
          As of {clockText(since)}: no answer from the server since. What is shown may be out of date.
        </Notice>
      )}
    </div>
  );
}
