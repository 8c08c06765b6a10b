/** Writes the client's types and lists of choices from openapi.json; `--check` compares them with it instead. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './files.mjs';

const TYPES = 'libs/client/src/schema.d.ts';
const CHOICES = 'libs/client/src/choices.ts';
const GENERATED = '/** Generated from openapi.json by `npm run openapi`. */\n\n';

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

/**
 * The enums of the document that have a name: types cannot be listed at run time.
 * @param {Record<string, { enum?: string[] }>} schemas
 */
function choicesOf(schemas) {
  const named = Object.entries(schemas).flatMap(([name, schema]) =>
    schema.enum ? [[name, schema.enum]] : [],
  );
  return `/** Values to choose from, by the name of their type. */\nexport const CHOICES = ${JSON.stringify(
    Object.fromEntries(named.toSorted()),
  )} as const;\n`;
}

/** @returns the generated files: path and text */
async function generate() {
  const written = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  // errors, as those of each operation
  delete written.components.responses;
  const document = slim(written);
  const types = await openapiTS(/** @type {import('openapi-typescript').OpenAPI3} */ (document), {
    alphabetize: true,
    // what has a default may be left out
    defaultNonNullable: false,
  });
  return { [TYPES]: astToString(types), [CHOICES]: choicesOf(written.components.schemas) };
}

for (const [name, generated] of Object.entries(await generate())) {
  const path = join(ROOT, name);
  const text = await format(GENERATED + generated, { ...(await resolveConfig(path)), filepath: path });
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
  } else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${name} is not what openapi.json says: npm run openapi`);
    process.exitCode = 1;
  }
}
