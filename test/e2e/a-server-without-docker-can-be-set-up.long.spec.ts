import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgres } from '../../apps/launcher/src/embedded-postgres';
import { freePort } from '../harness/free-port';
import { neededInCi } from '../harness/needed-in-ci';
import { hasRedis } from '../harness/redis';
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
const SYSTEM = `
apt-get() { :; }; npm() { :; }; useradd() { :; }; chown() { :; }
su() { psql --no-psqlrc --quiet "$SUPERUSER" --set=ON_ERROR_STOP=1; }
curl() { command curl --fail "$@"; }
drawbridge-admin() { "$FOLDER/bin/drawbridge-admin" "$@"; }
redis() {
  [ ! -e "$FOLDER/redis.pid" ] || { kill "$(cat "$FOLDER/redis.pid")"; while [ -e "$FOLDER/redis.pid" ]; do sleep 0.1; done; }
  redis-server "$FOLDER/redis.conf" --port "$REDIS_PORT" --bind 127.0.0.1 --daemonize yes --pidfile "$FOLDER/redis.pid" --dir "$FOLDER" >/dev/null
}
unit() {
  local file="$FOLDER/units/drawbridge@.service" name="$1" pid="$FOLDER/$1.pid"
  [ ! -e "$pid" ] || { kill "$(cat "$pid")"; while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done; }
  setting() { sed -n "s/^$1=//p" "$file" | sed "s/%i/$name/g"; }
  cd "$(setting WorkingDirectory)"
  env --ignore-environment PATH="$PATH" "$(setting Environment)" $(cat "$(setting EnvironmentFile)") $(setting ExecStart) >>"$FOLDER/$name.log" 2>&1 &
  echo $! >"$pid"; cd - >/dev/null
}
systemctl() {
  for each in "$@"; do case $each in redis-server) redis ;; drawbridge@*) unit "\${each#*@}" ;; esac; done
}
`;

const hasPrograms = neededInCi(
  'psql or redis-server',
  hasRedis && spawnSync('psql', ['--version']).status === 0,
);
if (!hasPrograms)
  process.stderr.write('\n*** no psql or redis-server: docs/operate.md WAS NOT FOLLOWED ***\n\n');

(hasPrograms ? describe : describe.skip)('A server without Docker', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  let env: Record<string, string>;
  let api: number;
  let metrics: number;
  let run: (...commands: string[]) => Promise<string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-operate-'));
    chmodSync(folder, 0o711);
    for (const name of ['units', 'bin']) mkdirSync(join(folder, name));
    server = new EmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      programs: process.env['TEST_POSTGRES_PROGRAMS'],
      onLog: () => undefined,
    });
    const { port, superuserUrl } = await server.start();
    const redis = await freePort();
    api = await freePort();
    metrics = await freePort(1);
    env = {
      PATH: process.env['PATH']!,
      HOME: folder,
      FOLDER: folder,
      SUPERUSER: superuserUrl,
      REDIS_PORT: String(redis),
    };
    const here: Readonly<Record<string, string>> = {
      '/opt/': `${folder}/`,
      '/etc/drawbridge': `${folder}/etc`,
      '/etc/redis': folder,
      '/etc/systemd/system': `${folder}/units`,
      '/usr/local/sbin': `${folder}/bin`,
      '127.0.0.1:5432': `127.0.0.1:${port}`,
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
      const units = `[ ! -e "$FOLDER"/units/*.service ] || sed -i -e 's|/opt/|${folder}/|; s|/etc/drawbridge|${folder}/etc|' "$FOLDER"/units/*.service`;
      const script = [SYSTEM, ...commands.map(moved)]
        .join('\n')
        .replace('systemctl enable', `${units}\nsystemctl enable`);
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        env,
        cwd: ROOT,
      });
      return stdout;
    };
  }, 60_000);

  afterAll(async () => {
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.pid')))
      spawnSync('kill', ['-KILL', readFileSync(join(folder, name), 'utf8').trim()]);
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });

  const log = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8');

  const isUp = (): Promise<boolean> =>
    until(
      'API and worker are UP',
      async () => {
        // a process that starts does not listen yet
        const answers = [metrics, metrics + 1].map((port) =>
          fetch(`http://127.0.0.1:${port}/health/ready`).then(
            (response) => response.text(),
            () => 'starting',
          ),
        );
        return (await Promise.all(answers)).every((answer) => answer === 'UP\n');
      },
      60_000,
    );

  it('is set up by the commands of operate.md, upgraded, and keeps what it has while each secret is changed', async () => {
    const said = await run(...commandsOf('Without Docker'));
    expect(said).toMatch(/Migrated: [^]*"status":"(UP|DEGRADED)"/);
    await isUp();
    const email = 'ada@example.com';
    const create = `drawbridge-admin create-organization --name Acme --email ${email} --url http://127.0.0.1:${api}`;
    const [, inviteToken] = /accept-invitation\/([\w-]+)/.exec(await run(create))!;
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`http://127.0.0.1:${api}/api/v1${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const password = 'A long 1 to remember';
    expect((await post('/auth/set-password', { inviteToken, password })).status).toBe(200);
    const signedIn = await post('/auth/login', { email, password });
    const { accessToken } = (await signedIn.json()) as { accessToken: string };

    await run(...commandsOf('Upgrade and roll back'));
    await isUp();
    const changes = [
      'the master key',
      'the master key',
      'the JWT secret',
      'the passwords of the database',
      'the password of Redis',
    ];
    const answers: string[] = [];
    for (const secret of changes) {
      const commands = commandsOf(`Change ${secret}`);
      answers.push(await run(...commands.filter((each) => !each.includes('\\password'))));
      await isUp();
    }
    expect(answers[0]).toContain('none is left');
    const me = await fetch(`http://127.0.0.1:${api}/api/v1/auth/me`, {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    expect(me.status).toBe(200);
    expect(await run('drawbridge-admin overdue')).toContain('Nothing is overdue');
    expect(log('api') + log('worker')).not.toMatch(/"level":50/);
  }, 300_000);
});
