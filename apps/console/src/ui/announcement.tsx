import { useLocation } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { Followed } from '../api';
import { Button } from './button';
import { unbroken } from './code';
import styles from './status.module.css';

/** An action may lead to another screen, where its outcome is still to be read. */
const ARRIVAL_MS = 3_000;

const announcement = new Followed({ text: null as string | null, at: 0 });

/** Says what an action has done: on this screen, or the one that it leads to. @param text null: nothing any more */
export const announce = (text: string | null): void => announcement.set({ text, at: performance.now() });

/** What the last action has done, until it is dismissed, another one begins, or another screen is opened. */
export function Announcement() {
  const { text } = useSyncExternalStore(announcement.follow, announcement.get);
  const { pathname } = useLocation();
  useEffect(() => {
    if (performance.now() - announcement.get().at > ARRIVAL_MS) announce(null);
  }, [pathname]);
  return (
    <div role="status" className={styles['announcement']}>
      {text === null ? null : (
        <div>
          <span>{unbroken(text)}</span>
          <Button kind="plain" onClick={() => announce(null)}>
            Dismiss
          </Button>
        </div>
      )}
    </div>
  );
}
