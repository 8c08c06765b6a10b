import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AgentStateWatcher, type StateWatch } from './agent-state-watcher';
import type { ApiSettings } from '../api.settings';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Waits as a request does. @returns the signal of its connection, if it is still in memory */
async function waited(watch: StateWatch): Promise<WeakRef<AbortSignal>> {
  const { signal } = new AbortController();
  await watch.changed(1, signal);
  return new WeakRef(signal);
}

describe('AgentStateWatcher', () => {
  it('does not keep a request whose wait is over, as long as its watch may live', async () => {
    const watcher = new AgentStateWatcher({ DATABASE_URL: 'postgres://nowhere/none' } as ApiSettings);
    const watch = watcher.watch('AGENT:host:one');
    const signal = await waited(watch);
    // a reference lives until the end of the task that made it
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(signal.deref()).toBeUndefined();
    watcher.notified('AGENT:host:one');
    expect(watch.isNotified).toBe(true);
  });
});
