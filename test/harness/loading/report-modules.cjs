/** Loaded into a process with `--require`: on SIGUSR2 it prints which drivers and packages it has loaded. */
const { loadedParts } = require('./loaded-parts.cjs');

process.on('SIGUSR2', () => process.stderr.write(`LOADED ${JSON.stringify(loadedParts())}\n`));
