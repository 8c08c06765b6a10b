require('../harness/typescript.cjs');
require('./runner/main.ts');
