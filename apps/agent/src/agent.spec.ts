import { once } from 'node:events';
import { Agent } from './agent';
import { GuardedPorts } from './guarding/guarded-ports';
import { NO_LIMITS } from './guarding/limits';
import { Log } from './log';

const TOO_LONG_MS = 200_000;

it('An agent is not alive while one of its loops hangs, though the other comes round', async () => {
  let now = 0;
  const [log, stopping, checked] = [new Log(() => undefined), new AbortController(), new EventTarget()];
  const limits = NO_LIMITS;
  const file = { readCurrent: () => null, write: () => Promise.resolve(), remove: () => undefined };
  const unused = (): Promise<never> => Promise.reject(new Error('The server answers nothing'));
  const agent = new Agent(
    {
      channel: {
        // the server is waited for without an end
        state: (_version, _seconds, signal) => once(signal, 'abort').then(unused),
        report: unused,
      },
      guard: {
        enforce: unused,
        observe: unused,
        repair: async () => !checked.dispatchEvent(new Event('checked')),
      },
      guardedPorts: new GuardedPorts({ file, limits, connections: () => [], log, now: () => now }, null),
      nft: { otherChains: () => Promise.resolve([]) },
      monitor: { start: () => undefined, stop: () => undefined, isRunning: true },
      limits,
      file,
      log,
      now: () => now,
    },
    { instance: 'one', state: null },
    new Map(),
  );
  const running = agent.run(stopping.signal);
  expect(agent.isAlive).toBe(true);
  now = TOO_LONG_MS;
  const isChecked = once(checked, 'checked');
  agent.noteForeignChange();
  await isChecked;
  expect(agent.isAlive).toBe(false);
  stopping.abort();
  await running;
});
