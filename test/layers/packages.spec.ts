import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
/** A hundred of them come with Google's client, which loads half of these; the image contains only what can be loaded. */
const MAX_PRODUCTION_PACKAGES = 350;

describe('Production packages', () => {
  it(`are at most ${MAX_PRODUCTION_PACKAGES}: each is code that runs beside credentials`, () => {
    const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    });
    const folders = new Set(listed.split('\n').filter((line) => line.includes('node_modules')));
    expect(folders.size).toBeGreaterThan(100);
    expect(folders.size).toBeLessThanOrEqual(MAX_PRODUCTION_PACKAGES);
  });
});
