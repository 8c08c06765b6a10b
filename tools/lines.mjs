import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, ROOT } from './files.mjs';

/** Most lines of each area. Raising one is a commit of its own that says why. */
const CEILINGS = 'tools/line-ceilings.json';
const SOURCE = /\.(?:tsx?|mts|cts|mjs|cjs|css|go|py)$/;
/** Made from openapi.json, or by a bundler. */
const GENERATED = /(?:^|\/)(?:schema\.d\.ts|choices\.ts)$|^apps\/action\/dist\//;
const TEST = /^test\/|\.spec\.tsx?$|_test\.go$|\/coretest\//;

/** @param {string} path of a source @returns {string} as in the file of ceilings: `apps/api`, `libs/rules`, `tests` */
const areaOf = (path) => (TEST.test(path) ? 'tests' : path.split('/').slice(0, 2).join('/'));

/** @returns {{ area: string, lines: number, ceiling: number }[]} an area without a ceiling has 0 */
function countLines() {
  /** @type {Record<string, number>} */
  const ceilings = JSON.parse(readFileSync(join(ROOT, CEILINGS), 'utf8'));
  const lines = new Map(Object.keys(ceilings).map((area) => [area, 0]));
  for (const path of ['apps', 'libs', 'integrations', 'test'].flatMap(filesBelow)) {
    if (!SOURCE.test(path) || GENERATED.test(path)) continue;
    const area = areaOf(path);
    const count = readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
    lines.set(area, (lines.get(area) ?? 0) + count);
  }
  return [...lines].map(([area, count]) => ({ area, lines: count, ceiling: ceilings[area] ?? 0 }));
}

const areas = countLines();
if (process.argv.includes('--all'))
  for (const { area, lines, ceiling } of areas)
    console.log(`${`lines of ${area}`.padEnd(40)} ${String(lines).padEnd(12)} <= ${ceiling}`);
for (const { area, lines, ceiling } of areas) {
  if (lines <= ceiling) continue;
  console.error(`${area} has ${lines} lines, and its ceiling in ${CEILINGS} is ${ceiling}`);
  process.exitCode = 1;
}
