import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readIfPresent, ROOT } from './files.mjs';

const TYPES = 'libs/client/src/schema.d.ts';
const CHOICES = 'libs/client/src/choices.ts';

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

const PLAN = '#/components/schemas/ChangePlanDto';

/**
 * Leaves out plans where there is another answer: who sends dryRun expects one, and others need not tell the two apart.
 * @param {Record<string, any>} paths
 */
function leaveOutPlans(paths) {
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const body = operation.responses?.['200']?.content?.['application/json'];
    if (body?.schema.$ref === PLAN) delete operation.responses['200'];
    else if (body?.schema.oneOf?.[1]?.$ref === PLAN) body.schema = body.schema.oneOf[0];
  }
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

/**
 * Writes the client's types and lists of choices, when openapi.json has changed since they were written. They are not kept in
 * git: the document is what is reviewed.
 */
export async function writeClientTypes() {
  const text = readFileSync(join(ROOT, 'openapi.json'), 'utf8');
  const hash = createHash('sha256')
    .update(text)
    .update(readFileSync(fileURLToPath(import.meta.url)));
  const head = `/** Generated from openapi.json, ${hash.digest('hex')}. */\n`;
  if ([TYPES, CHOICES].every((path) => readIfPresent(join(ROOT, path))?.startsWith(head))) return;
  // a package, which is installed before it is needed
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const document = JSON.parse(text);
  const choices = choicesOf(document.components.schemas);
  // errors, as those of each operation
  delete document.components.responses;
  leaveOutPlans(document.paths);
  const slimmed = /** @type {import('openapi-typescript').OpenAPI3} */ (slim(document));
  // what has a default may be left out
  const types = await openapiTS(slimmed, { alphabetize: true, defaultNonNullable: false });
  writeFileSync(join(ROOT, TYPES), head + astToString(types));
  writeFileSync(join(ROOT, CHOICES), head + choices);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeClientTypes();
