/**
 * Loaded before a program whose memory is measured: SIGUSR2 makes it collect its garbage, because resident memory counts
 * what Node.js has not collected yet. Freed pages are given back by later collections.
 */
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const COLLECTIONS = 5;
const PAUSE_MS = 300;

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  for (let times = 0; times < COLLECTIONS; times += 1) setTimeout(collect, times * PAUSE_MS);
});
