/** Writes the client's types from openapi.json; `--check` compares them with it instead. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './files.mjs';

const TYPES = 'libs/client/src/schema.d.ts';

/** Keys of the document that have no effect on types, or none on those of the client: it throws on every error. */
const LEFT_OUT = new Set(['description', 'example', 'examples', 'headers', 'summary', 'title']);

/**
 * The part of the document that types are made of.
 * @param {unknown} value
 * @param {boolean} isNamed whether the keys are names of the API, not words of OpenAPI
 * @returns {unknown}
 */
function slim(value, isNamed = false) {
  if (Array.isArray(value)) return value.map((item) => slim(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key]) => isNamed || !(LEFT_OUT.has(key) || /^[345]\d\d$/.test(key)),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, slim(inner, !isNamed && key === 'properties')]));
}

async function generate() {
  const written = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  // errors, as those of each operation
  delete written.components.responses;
  const document = slim(written);
  const path = join(ROOT, TYPES);
  const types = await openapiTS(/** @type {import('openapi-typescript').OpenAPI3} */ (document), {
    alphabetize: true,
    // what has a default may be left out
    defaultNonNullable: false,
  });
  const text = `/** Generated from openapi.json by \`npm run openapi\`. */\n\n${astToString(types)}`;
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

const text = await generate();
if (!process.argv.includes('--check')) {
  writeFileSync(join(ROOT, TYPES), text);
} else if (readFileSync(join(ROOT, TYPES), 'utf8') !== text) {
  console.error(`${TYPES} is not what openapi.json says: npm run openapi`);
  process.exitCode = 1;
}
