import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { ApiSettings } from '../../apps/api/src/api.settings';
import { LauncherSettings } from '../../apps/launcher/src/launcher.settings';
import { PROCESS_VARIABLES } from '../../apps/launcher/src/process-variables';
import { SimulatorSettings } from '../../apps/simulator/src/settings';
import { MigrateSettings } from '../../apps/worker/src/admin/migrate.settings';
import { readSigner } from '../../apps/worker/src/audit/signing-key-file';
import { WorkerSettings } from '../../apps/worker/src/worker.settings';
import { loadSettings, settingNames } from '#config';
import { DriverRegistry } from '#drivers';

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const sorted = (...names: readonly string[][]): string[] => [...new Set(names.flat())].sort();

/** What each process reads: its settings class, and the drivers' settings where it runs drivers. */
const DECLARED: Readonly<Record<string, string[]>> = {
  api: sorted(settingNames(ApiSettings), DriverRegistry.variables),
  worker: sorted(settingNames(WorkerSettings), DriverRegistry.variables),
  simulator: settingNames(SimulatorSettings),
  migrate: settingNames(MigrateSettings),
};

/** Variables of a service of docker-compose.yml with their values. */
function composeEnvironment(service: string): Record<string, string> {
  const [, block = ''] =
    new RegExp(`\\n  ${service}:\\n((?:    .*\\n|\\n(?=    ))*)`).exec(read('docker-compose.yml')) ?? [];
  const [, lines = ''] = /\n {4}environment:\n((?: {6}.*\n)*)/.exec(block) ?? [];
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.trim().split(/: (.*)/s) as [string, string]),
  );
}

/** What compose makes of a service's variables. @throws Error for a missing one, as compose does */
const filled = (service: string, given: NodeJS.Dict<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(composeEnvironment(service)).map(([variable, value]) => [
      variable,
      value.replaceAll(
        /\$\{([A-Z0-9_]+)(?::([?+-])([^}]*))?\}|'/g,
        (_, name?: string, kind?: string, text: string = '') => {
          if (name === undefined) return '';
          if (kind === '+') return given[name] ? text : '';
          if (given[name] || kind === '-') return given[name] || text;
          throw new Error(`${name} is missing`);
        },
      ),
    ]),
  );

/** What compose does not start without: the secrets. */
const REQUIRED = new Set(
  [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name!),
);

/** Rows of the table: variable and the processes that read it. */
const documented = read('docs/settings.md')
  .split('\n')
  .flatMap((line) => {
    const [, name, , readers] = /^\| `([A-Z0-9_]+)`\s*\|([^|]*)\|([^|]*)\|/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, readers: readers!.split(',').map((reader) => reader.trim()) }];
  });

const SECRETS_OF_THE_API = ['JWT_SECRET', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'];

describe('Settings', () => {
  it.each(['api', 'worker', 'simulator', 'migrate'] as const)(
    'npm start gives the %s what it declares',
    (name) => {
      expect([...PROCESS_VARIABLES[name]].sort()).toEqual(DECLARED[name]);
    },
  );

  it.each(['api', 'worker', 'migrate'])(
    'docker-compose.yml passes the %s the variables it declares',
    (name) => {
      // only the launcher sets EMBEDDED
      const expected = DECLARED[name]!.filter((variable) => variable !== 'EMBEDDED');
      expect(Object.keys(composeEnvironment(name)).sort()).toEqual(sorted(expected, ['NODE_ENV']));
    },
  );

  it('docs/settings.md has a row for each variable, with the processes that read it', () => {
    const processes = ['api', 'worker', 'migrate'];
    const expected = sorted(...processes.map((name) => DECLARED[name]!))
      .filter((variable) => variable !== 'EMBEDDED')
      .map((name) => ({ name, readers: processes.filter((one) => DECLARED[one]!.includes(name)) }));
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    const ofProcesses = documented.filter(({ readers }) => !readers.includes('npm start'));
    expect(ofProcesses.toSorted(byName)).toEqual(expected.toSorted(byName));
  });

  it('docs/settings.md has a row for each variable of npm start', () => {
    const names = documented.map(({ name }) => name);
    for (const name of settingNames(LauncherSettings)) expect(names).toContain(name);
  });

  it('docker-compose.yml passes the worker none of the API’s secrets', () => {
    for (const name of SECRETS_OF_THE_API) {
      expect(PROCESS_VARIABLES.worker).not.toContain(name);
      expect(Object.keys(composeEnvironment('worker'))).not.toContain(name);
    }
  });

  it('the owner’s password reaches PostgreSQL and the migrations only', () => {
    for (const name of ['api', 'worker']) {
      expect(Object.values(composeEnvironment(name)).join()).not.toContain('{POSTGRES_PASSWORD');
    }
    expect(composeEnvironment('migrate')['DATABASE_URL']).toContain('{POSTGRES_PASSWORD');
  });

  it('bin/make-env writes all that docker compose needs, with new secrets, for its owner alone, and once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'make-env-'));
    const made = [join(folder, 'one/.env'), join(folder, 'other/.env')].map((file): NodeJS.Dict<string> => {
      mkdirSync(dirname(file));
      const make = () => spawnSync(join(ROOT, 'bin/make-env'), [file], { encoding: 'utf8' });
      expect(make()).toMatchObject({ status: 0, stderr: '' });
      const text = readFileSync(file, 'utf8');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(make()).toMatchObject({ status: 1 });
      expect(readFileSync(file, 'utf8')).toBe(text);
      const given = parseEnv(text);
      expect(statSync(given['AUDIT_SIGNING_KEY_FILE']!).mode & 0o777).toBe(0o600);
      return { ...given, KEY: readSigner(given['AUDIT_SIGNING_KEY_FILE']!).keyId };
    });
    rmSync(folder, { recursive: true });
    const [given] = made;
    expect(given!['KEY']).not.toBe(made[1]!['KEY']);
    const api = loadSettings(ApiSettings, filled('api', given!));
    expect(api).toMatchObject({ PAYMENT: 'none', REGISTRATION: 'first' });
    loadSettings(WorkerSettings, filled('worker', given!));
    loadSettings(MigrateSettings, filled('migrate', given!));
    for (const name of REQUIRED) expect(made[0]![name]).not.toBe(made[1]![name]);
  });

  it('deploy/example.env names what docker-compose.yml requires', () => {
    const given = read('deploy/example.env');
    for (const name of REQUIRED) expect(given).toMatch(new RegExp(`^${name}=`, 'm'));
  });

  it.each(['postgres', 'redis', 'migrate', 'api', 'worker'])('%s runs with reduced privileges', (service) => {
    const compose = read('docker-compose.yml');
    const block = compose.slice(compose.indexOf(`\n  ${service}:\n`)).split(/\n {2}(?=\w)/)[1]!;
    for (const line of ['read_only: true', 'cap_drop: [ALL]', 'no-new-privileges:true']) {
      expect(block).toContain(line);
    }
  });
});
