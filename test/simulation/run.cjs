require('../harness/loading/typescript.cjs');
require('./main.ts');
