/** Bundles the GitHub action; `--check` compares the bundles in the repository with their sources instead. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ONE_FILE } from './bundle.mjs';
import { writeClientTypes } from './client-types.mjs';
import { readIfPresent, ROOT } from './files.mjs';

/** What action.yml names. It is checked in: runners build nothing. */
const FOLDER = 'apps/action/dist';

/** The programs of the two steps: a step has no arguments, and only its file says which one it is. */
const STEPS = {
  'main.js': `require('./action.js').main();\n`,
  'post.js': `require('./action.js').post();\n`,
};

/**
 * The same sources make the same text.
 * @param {string} source its name in apps/action/src
 */
async function bundle(source) {
  const { outputFiles } = await build({
    ...ONE_FILE,
    entryPoints: [`apps/action/src/${source}`],
    // paths of packages are in the text
    preserveSymlinks: true,
    write: false,
    target: 'node24',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
  });
  return outputFiles[0]?.text ?? '';
}

await writeClientTypes();
const files = {
  ...STEPS,
  'action.js': await bundle('main.ts'),
  'renewer.js': await bundle('renewer.ts'),
  'closer.js': await bundle('closer.ts'),
};
for (const [name, text] of Object.entries(files)) {
  const file = join(ROOT, FOLDER, name);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readIfPresent(file) !== text) {
    console.error(`${FOLDER}/${name} is not what its sources say: npm run build:action`);
    process.exitCode = 1;
  }
}
