import type { ApiSettings } from '../api.settings';
import { AgentStateWatcher } from './agent-state-watcher';

describe('A host that asks twice', () => {
  const watcher = new AgentStateWatcher({ DATABASE_URL: 'postgres://127.0.0.1:1/none' } as ApiSettings);

  /** A wait whose first read ends when it is released; what it reads is no news before `arrives` is called. */
  const wait = (): { readonly answer: Promise<string>; release: () => void; arrives: () => void } => {
    let state = 'old';
    let release = (): void => undefined;
    const firstRead = new Promise<void>((resolve) => (release = resolve));
    const read = async (): Promise<string> => {
      await firstRead;
      return state;
    };
    const { signal } = new AbortController();
    const answer = watcher.news('host', 60_000, signal, read, (given) => given === 'new');
    return {
      answer,
      release,
      arrives: () => {
        state = 'new';
        watcher.notified('host');
      },
    };
  };

  it.each(['older', 'newer'])('has the newer wait alone, also when the %s one reads first', async (first) => {
    const [older, newer] = [wait(), wait()];
    (first === 'older' ? older : newer).release();
    await new Promise(setImmediate);
    older.release();
    newer.release();
    expect(await older.answer).toBe('old');
    newer.arrives();
    expect(await newer.answer).toBe('new');
  });
});
