import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

/** `e2e/x` and `store/x` stand below `test`; a page names a spec with its ending or without, or several by a `*`. */
function exists(name: string): boolean {
  const path = join(ROOT, /^(libs|apps)\//.test(name) ? name : `test/${name}`);
  if (!path.includes('*'))
    return ['', '.spec.ts', '.long.spec.ts'].some((ending) => existsSync(`${path}${ending}`));
  const [before, after] = basename(path).split('*') as [string, string];
  return readdirSync(dirname(path)).some((file) => file.startsWith(before) && file.endsWith(after));
}

describe('docs/security.md', () => {
  const names = [
    ...page.matchAll(/`((?:e2e|hostile|store|floors|chaos|conformance|libs|apps)\/[^`]+)`/g),
  ].map(([, name]) => name!);

  it('names tests', () => {
    expect(names.length).toBeGreaterThan(40);
  });

  it('names only existing tests', () => {
    expect(names.filter((name) => !exists(name))).toEqual([]);
  });
});
