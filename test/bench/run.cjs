require('./typescript.cjs');
require('./main.ts');
