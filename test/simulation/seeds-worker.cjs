/** A thread that runs seeds, with the edits of a planted bug applied to the sources it loads. */
const { workerData } = require('node:worker_threads');
const { editSources } = require('../harness/loading/typescript.cjs');

editSources(workerData.edits);
require('./seeds.ts');
