/** Lets this process load TypeScript, as the tests do; the product itself runs from its build. */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join, relative } = require('node:path');
const { transformSync } = require('@swc/core');
const { swcOptions } = require('../../../tools/swc.cjs');

const ROOT = join(__dirname, '../../..');
const { imports } = require('../../../package.json');
let edits = [];

/** Resolves `#rules` and the other libraries to their sources; packages may have such names of their own. */
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  if (request.startsWith('#') && !rest[0]?.filename?.includes('/node_modules/')) {
    const { '@drawbridge/source': source } = imports[request] ?? imports['#*'];
    return join(ROOT, source.replace('*', request.slice(1)));
  }
  return resolve.call(this, request.replace(/^(\..*)\.js$/, '$1'), ...rest);
};

/** Applies an edit to a source. @throws Error unless the text occurs exactly once */
function edited(source, filename, { find, replace }) {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${filename}: found ${parts.length - 1} times, not once: ${find}`);
  return parts.join(replace);
}

Module._extensions['.ts'] = (module, filename) => {
  const name = relative(ROOT, filename);
  const source = edits
    .filter(({ file }) => file === name)
    .reduce((text, edit) => edited(text, name, edit), readFileSync(filename, 'utf8'));
  const { code } = transformSync(source, { ...swcOptions(filename, 'commonjs'), sourceMaps: 'inline' });
  module._compile(code, filename);
};

/** Edits sources that are loaded from now on: `[{ file, find, replace }]`, files relative to the repository's root. */
exports.editSources = (given) => {
  edits = given;
};
