require('../harness/typescript.cjs');
require('./main.ts');
