/**
 * Stands in for the runner's process of one job: starts the steps that it is asked for, one at a time, and signals them.
 * Steps outlive it, as they do on a machine.
 */
const { spawn } = require('node:child_process');

let step = null;

process.on('message', ({ command, env, signal }) => {
  if (signal) {
    step?.kill(signal);
    return;
  }
  const [program, ...args] = command;
  step = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  process.send({ started: step.pid });
  let output = '';
  for (const stream of [step.stdout, step.stderr]) stream.on('data', (chunk) => (output += chunk));
  step.once('close', (code, by) => process.send({ ended: { code, signal: by, output } }));
});
process.on('disconnect', () => process.exit());
