import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PLANTED_IMPORTS, type PlantedImport } from './planted-imports';

export const ROOT = resolve(__dirname, '../..');
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

interface Cruise {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

/** Violations of `.dependency-cruiser.cjs` below these folders, each as `file: rule`. */
export function layerViolations(...folders: string[]): string[] {
  const given = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders];
  const printed = execFileSync(process.execPath, [CRUISER, ...given], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { summary } = JSON.parse(printed) as Cruise;
  return summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`);
}

/**
 * Plants every forbidden import, each in a folder of its own, and removes it again.
 * @returns those that no rule reported
 */
export function undetectedImports(): PlantedImport[] {
  // beside src: a build at the same time does not compile them
  const planted = PLANTED_IMPORTS.map((found) => {
    const folder = mkdtempSync(join(ROOT, found.folder, 'planted-'));
    writeFileSync(join(folder, 'planted.ts'), `${found.source}\n`);
    return { found, folder: folder.slice(ROOT.length + 1) };
  });
  try {
    const violations = new Set(layerViolations(...planted.map(({ folder }) => folder)));
    return planted
      .filter(({ folder, found }) => !violations.has(`${folder}/planted.ts: ${found.rule}`))
      .map(({ found }) => found);
  } finally {
    for (const { folder } of planted) rmSync(join(ROOT, folder), { recursive: true });
  }
}
