/** A thread that runs seeds, with a bug planted into the sources it loads, if one is named. */
const { workerData } = require('node:worker_threads');
const { editSources } = require('../harness/typescript.cjs');

editSources(workerData.edits);
require('./seeds.ts');
