/** `npm run structure` prints the figures of the source layout, each beside its limit. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { layerViolations, ROOT, undetectedImports } from './layer-violations';
import { PLANTED_IMPORTS } from './planted-imports';
import { longest, medianLines, sourceFiles } from './source-files';

interface KnipReport {
  /** by file: lists of findings, by kind */
  readonly issues: readonly Readonly<Record<string, unknown>>[];
}

/** What knip reports as unused: files, exports, types and packages. */
function unusedCount(): number {
  const command = join(ROOT, 'node_modules/knip/bin/knip.js');
  const printed = execFileSync(process.execPath, [command, '--reporter', 'json', '--no-exit-code'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const { issues } = JSON.parse(printed) as KnipReport;
  const lengths = issues.flatMap((found) =>
    Object.values(found).map((list) => (Array.isArray(list) ? list.length : 0)),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

const files = sourceFiles();
const { path, lines } = longest(files);
const violations = layerViolations('apps', 'libs', 'test');
const cycles = violations.filter((found) => found.endsWith(': no-folder-cycles')).length;
const detected = PLANTED_IMPORTS.length - undetectedImports().length;

const FIGURES = [
  ['source files, tests included', String(files.length), ''],
  ['median lines of a file', String(medianLines(files)), '< 100'],
  ['lines of the longest file', `${lines} (${path})`, '<= 350'],
  ['violations of the layer rules', String(violations.length), '0'],
  ['folder cycles', String(cycles), '0'],
  ['planted imports that the rules report', `${detected} of ${PLANTED_IMPORTS.length}`, 'all'],
  ['unused files, exports and packages', String(unusedCount()), '0'],
] as const;

for (const [name, value, limit] of FIGURES) {
  process.stdout.write(`${name.padEnd(40)} ${value.padEnd(12)} ${limit}\n`);
}
execFileSync(process.execPath, ['tools/lines.mjs', '--all'], { cwd: ROOT, stdio: 'inherit' });
