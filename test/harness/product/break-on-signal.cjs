/** Loaded into a process with `--require`: on SIGUSR2 it fails as BREAK says. */
const BREAKS = {
  rejection: () => void Promise.reject(new Error('nobody waits for this')),
  exception: () => {
    throw new Error('nobody catches this');
  },
  memory: () => {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, () => ({})));
  },
};
process.on('SIGUSR2', () => setImmediate(BREAKS[process.env.BREAK]));
