import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  type DebianCluster,
  hasDebianPostgres,
  startDebianCluster,
} from '../harness/database/debian-postgres';
import { freePort } from '../harness/network/free-port';
import { neededInCi } from '../harness/needed-in-ci';
import { hasRedis } from '../harness/database/redis';
import { until } from '../harness/until';

const ROOT = resolve(__dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');

/** The commands below a heading of the page, without those of Docker. */
function commandsOf(heading: string): string[] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const blocks = section.split(/^##/m)[0]!.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm);
  return [...blocks]
    .map(([, indent, commands]) => commands!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
    .filter((commands) => !commands.startsWith('docker'));
}

/** What stands in for the system: the units' programs run with the units' settings, as this user. */
const SYSTEMCTL = `#!/bin/bash
set -euo pipefail
end() {
  [ -e "$1" ] || return 0
  local pid; pid=$(cat "$1"); kill "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm -f "$1"
}
start_redis() {
  redis-server "$FOLDER/etc/redis/redis.conf" --port "$REDIS_PORT" --bind 127.0.0.1 --daemonize yes --pidfile "$FOLDER/redis.pid" --dir "$FOLDER" >/dev/null
}
start_unit() {
  local file="$FOLDER/units/drawbridge@.service" name="$1"
  setting() { sed -n "s/^$1=//p" "$file" | sed "s/%i/$name/g"; }
  cd "$(setting WorkingDirectory)"
  env --ignore-environment PATH="$PATH" "$(setting Environment)" $(cat "$(setting EnvironmentFile)") $(setting ExecStart) >>"$FOLDER/$name.log" 2>&1 &
  echo $! >"$FOLDER/$name.pid"
}
for each in "$@"; do
  case $each in
    redis-server) end "$FOLDER/redis.pid"; [ "$1" = stop ] || start_redis ;;
    drawbridge@*) name="\${each#*@}"; end "$FOLDER/$name.pid"; [ "$1" = stop ] || start_unit "$name" ;;
  esac
done
`;
const NOTHING = '#!/bin/sh\n';
const PROGRAMS = {
  systemctl: SYSTEMCTL,
  su: '#!/bin/sh\nexec $DRAWBRIDGE_POSTGRES psql --no-psqlrc --quiet --dbname=postgres --set=ON_ERROR_STOP=1\n',
  'apt-get': NOTHING,
  npm: NOTHING,
  useradd: NOTHING,
};
/** Not a program: the server of the test needs the real one. */
const CHOWN = 'chown() { :; }';

const hasPrograms = neededInCi('redis-server', hasRedis) && hasDebianPostgres;
if (!hasPrograms)
  process.stderr.write('\n*** no postgresql or redis-server: docs/operate.md WAS NOT FOLLOWED ***\n\n');

(hasPrograms ? describe : describe.skip)('A server without Docker', () => {
  let folder: string;
  let server: DebianCluster;
  let api: number;
  let metrics: number;
  /** Runs commands of the page, or others, in a shell of their own. */
  let run: (...commands: string[]) => Promise<string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-operate-'));
    chmodSync(folder, 0o711);
    for (const name of ['units', 'bin', 'opt', 'etc/redis'])
      mkdirSync(join(folder, name), { recursive: true });
    for (const [name, program] of Object.entries(PROGRAMS))
      writeFileSync(join(folder, 'bin', name), program, { mode: 0o755 });
    server = await startDebianCluster('postgres', 'scram-sha-256');
    const redis = await freePort();
    api = await freePort();
    metrics = await freePort(1);
    const env = {
      PATH: `${folder}/bin:${server.bin}:${process.env['PATH']}`,
      HOME: folder,
      FOLDER: folder,
      REDIS_PORT: String(redis),
      DRAWBRIDGE_ROOT: folder,
      DRAWBRIDGE_POSTGRES: `env PGHOST=${server.folder} PGPORT=${server.port} PGUSER=postgres`,
    };
    const here: Readonly<Record<string, string>> = {
      '/opt/': `${folder}/opt/`,
      '/etc/drawbridge': `${folder}/etc/drawbridge`,
      '/etc/redis': `${folder}/etc/redis`,
      '/etc/systemd/system': `${folder}/units`,
      '/usr/local/sbin': `${folder}/bin`,
      '127.0.0.1:5432': `127.0.0.1:${server.port}`,
      '127.0.0.1:6379': `127.0.0.1:${redis}`,
      'PORT=3000': `PORT=${api}`,
      '127.0.0.1:3000': `127.0.0.1:${api}`,
      '9464': String(metrics),
      '9465': String(metrics + 1),
    };
    const moved = (text: string): string =>
      Object.entries(here).reduce((all, [from, to]) => all.replaceAll(from, to), text);
    run = async (...commands) => {
      // the unit is the one of the page, which names the same places
      const units = `[ ! -e "$FOLDER"/units/*.service ] || sed -i -e 's|=/opt/|=${folder}/opt/|; s|=/etc/drawbridge|=${folder}/etc/drawbridge|' "$FOLDER"/units/*.service`;
      const script = [CHOWN, ...commands.map(moved)]
        .join('\n')
        .replace('systemctl enable', `${units}\nsystemctl enable`);
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        env,
        cwd: ROOT,
      });
      return stdout;
    };
  });

  afterAll(async () => {
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.pid')))
      spawnSync('kill', ['-KILL', readFileSync(join(folder, name), 'utf8').trim()]);
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });

  const log = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8');

  const isUp = (): Promise<boolean> =>
    until('API and worker are UP', async () => {
      // a process that starts does not listen yet
      const answers = [metrics, metrics + 1].map((port) =>
        fetch(`http://127.0.0.1:${port}/health/ready`).then(
          (response) => response.text(),
          () => 'starting',
        ),
      );
      return (await Promise.all(answers)).every((answer) => answer === 'UP\n');
    });

  const setting = (name: string, file: string): string =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(join(folder, 'etc/drawbridge', file), 'utf8'))?.[1] ??
    '';
  const created = (name: string, email: string): Promise<string> =>
    run(`drawbridge-admin create-organization --name ${name} --email ${email} --url http://127.0.0.1:${api}`);
  const email = 'ada@example.com';
  let accessToken: string;
  const isSignedIn = async (): Promise<void> => {
    await isUp();
    const me = await fetch(`http://127.0.0.1:${api}/api/v1/auth/me`, {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    expect(me.status).toBe(200);
  };

  it('is set up by the commands of operate.md', async () => {
    const said = await run(...commandsOf('Without Docker'));
    expect(said).toMatch(/Migrated: [^]*"status":"(UP|DEGRADED)"/);
    await isUp();
    const [, inviteToken] = /accept-invitation\/([\w-]+)/.exec(await created('Acme', email))!;
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`http://127.0.0.1:${api}/api/v1${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const password = 'A long 1 to remember';
    expect((await post('/auth/set-password', { inviteToken, password })).status).toBe(200);
    const signedIn = await post('/auth/login', { email, password });
    ({ accessToken } = (await signedIn.json()) as { accessToken: string });
  });

  it('is upgraded, and upgraded again', async () => {
    const releases = [readlinkSync(join(folder, 'opt/drawbridge'))];
    for (let count = 0; count < 2; count++) {
      const said = await run('bin/server upgrade');
      expect(said).toContain(`ln -sfn ${releases.at(-1)} `);
      await isSignedIn();
      releases.push(readlinkSync(join(folder, 'opt/drawbridge')));
    }
    expect(new Set(releases).size).toBe(3);
  });

  it('keeps what it has while each secret is changed, some twice', async () => {
    const before = setting('MASTER_KEYS', 'worker.env');
    for (const secret of ['master-key', 'master-key', 'jwt-secret', 'jwt-secret', 'service-password']) {
      await run(`bin/server change ${secret}`);
      await isSignedIn();
    }
    await run('bin/server change redis-password', 'bin/server change owner-password');
    expect(setting('MASTER_KEYS', 'worker.env').split(',')).toEqual([
      before,
      expect.stringMatching(/^2:/),
      expect.stringMatching(/^3:/),
    ]);
    expect(setting('JWT_PREVIOUS_SECRETS', 'api.env').split(',')).toHaveLength(2);
    expect(await run('bin/server drop master-key')).toContain('none is left under another');
    await isSignedIn();
    for (const file of ['api.env', 'worker.env']) expect(setting('MASTER_KEYS', file)).toMatch(/^3:[^,]+$/);
    expect(await run('drawbridge-admin overdue')).toContain('Nothing is overdue');
    expect(log('api') + log('worker')).not.toMatch(/"level":50/);
  });

  it('is restored twice, and goes back to the database of before', async () => {
    const dump = join(folder, 'before.dump');
    await run(`bin/server backup ${dump}`);
    expect(statSync(dump).mode & 0o777).toBe(0o600);
    await created('Later', 'grace@example.com');
    const databases = [new URL(setting('DATABASE_URL', 'api.env')).pathname.slice(1)];
    for (let count = 0; count < 2; count++) {
      const said = await run(`bin/server restore ${dump}`);
      expect(said).toContain(`bin/server use ${databases.at(-1)}`);
      await run('drawbridge-admin restored --confirm');
      await isSignedIn();
      databases.push(new URL(setting('DATABASE_URL', 'api.env')).pathname.slice(1));
      for (const [name, file] of [
        ['DATABASE_URL', 'worker.env'],
        ['DATABASE_URL', 'migrate.env'],
        ['DATABASE_SERVICE_URL', 'migrate.env'],
      ] as const)
        expect(setting(name, file)).toContain(`/${databases.at(-1)}`);
    }
    expect(new Set(databases).size).toBe(3);
    // whoever came after the backup is unknown there, and known in the database that was kept
    const link = `drawbridge-admin password-link grace@example.com --url http://127.0.0.1:${api}`;
    await expect(run(link)).rejects.toMatchObject({ code: 2 });
    await expect(run('bin/server use drawbridge_unknown')).rejects.toMatchObject({ code: 1 });
    await run(`bin/server use ${databases[0]}`);
    await run('drawbridge-admin restored --confirm', link);
    await isSignedIn();
  });

  it('refuses a file that it cannot restore, and stays as it is', async () => {
    writeFileSync(join(folder, 'no.dump'), 'no dump');
    const before = setting('DATABASE_URL', 'migrate.env');
    await expect(run(`bin/server restore ${join(folder, 'no.dump')}`)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Nothing has changed') as string,
    });
    expect(setting('DATABASE_URL', 'migrate.env')).toBe(before);
    await isSignedIn();
  });
});
