import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** Loads a module in a process with an empty PATH. @returns its error output when it failed, '' when it did not */
function loadedWithoutPrograms(module: string, ci: string): string {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['-e', `require('./test/harness/loading/typescript.cjs'); require('./test/${module}');`],
    { cwd: ROOT, env: { PATH: '/nowhere', CI: ci }, encoding: 'utf8' },
  );
  return status === 0 ? '' : stderr;
}

const PROBES = [
  ['redis-server', 'harness/database/redis.ts'],
  ['faketime', 'harness/machines/skewed-clock.ts'],
  ['nft', 'harness/network/network.ts'],
  ['pgbouncer', 'harness/database/pgbouncer.ts'],
  ['an overlay file system', 'harness/machines/disposable-machine.ts'],
  ['python3', 'hostile/address-oracle.ts'],
  ['chromium', 'harness/console/browser.ts'],
  ['prometheus', 'harness/machines/prometheus.ts'],
] as const;

describe('A machine without the programs that suites need', () => {
  it.each(PROBES)('fails the suites that need %s with CI=true (%s)', (program, module) => {
    expect(loadedWithoutPrograms(module, 'true')).toMatch(new RegExp(`Error: ${program}.* is missing here`));
  });

  it.each(PROBES)('skips the suites that need %s elsewhere (%s)', (_, module) => {
    expect(loadedWithoutPrograms(module, '')).toBe('');
  });
});
