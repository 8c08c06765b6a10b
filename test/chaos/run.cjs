require('../bench/typescript.cjs');
require('./runner/main.ts');
