require('../harness/loading/typescript.cjs');
require('./runner/main.ts');
