/**
 * Loaded before a program whose memory is measured: SIGUSR2 makes it collect garbage, since resident memory counts what
 * Node.js has not collected yet. Three collections in a row also give freed pages back.
 */
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  for (let times = 0; times < 3; times += 1) collect();
});
