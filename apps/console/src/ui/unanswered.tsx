import { useSyncExternalStore } from 'react';
import { dismissEnding, onEndingsChange, unansweredEndings } from '../api';
import { Button } from './button';
import { unbroken } from './code';
import { Notice } from './status';

const TRIED_AGAIN =
  'no answer from the server, so it is not known whether this was done. It is tried again until there is one, as long as this tab is open.';
const OPEN_MEANWHILE = 'Until then, what is open stays open until its own end.';

/** What was to end access, and is not known to have done so. Drawn above every screen, and in dialogs, which hide that. */
export const Unanswered = () =>
  useSyncExternalStore(onEndingsChange, unansweredEndings).map((ending, index) => (
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
