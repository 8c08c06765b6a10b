import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { layerViolations, ROOT, undetectedImports } from './layer-violations';

/** In every file: `npm run lint:style`. */
describe('Imports go down the layers only', () => {
  it('each rule reports the import planted for it', () => {
    expect(undetectedImports()).toEqual([]);
  });

  it('detects a cycle of folders that is no cycle of files', () => {
    const [one, other] = [1, 2].map(() => mkdtempSync(join(ROOT, 'apps/api', 'planted-'))) as [
      string,
      string,
    ];
    const write = (folder: string, name: string, source: string): void =>
      writeFileSync(join(folder, `${name}.ts`), `${source}\n`);
    write(one, 'above', `import '../${basename(other)}/below';`);
    write(one, 'below', 'export {};');
    write(other, 'above', `import '../${basename(one)}/below';`);
    write(other, 'below', 'export {};');
    try {
      expect(layerViolations(one, other)).toContain(`apps/api/${basename(one)}: no-folder-cycles`);
    } finally {
      for (const folder of [one, other]) rmSync(folder, { recursive: true });
    }
  });
});
