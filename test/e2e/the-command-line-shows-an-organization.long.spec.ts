import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliBench } from '../builders/programs/cli-bench';
import { PASSWORD } from '../builders/accounts/people';
import { containing } from '../harness/matching';
import { CommandLine } from '../harness/product/command-line';

/** What doctor found, each with its name. */
const statesOf = (printed: string): string[] => {
  const { checks } = JSON.parse(printed) as { checks: { name: string; state: string }[] };
  return checks.map(({ name, state }) => `${name}: ${state}`);
};

describe('The command line shows an organization', () => {
  const bench = CliBench.own();
  /** signed in as an administrator */
  let cli: CommandLine;

  beforeAll(async () => {
    const { admin, roleId } = bench.org;
    const account = { email: 'ada@example.com', password: PASSWORD, isOrgAdmin: true };
    await admin.created('/users', { ...account, roleIds: [roleId] });
    cli = new CommandLine();
    const login = `login --url ${bench.proxy.url}/api/v1/ --email ${account.email} --password-stdin`;
    const { code, stderr } = await cli.run(login, `${PASSWORD}\n`);
    if (code !== 0) throw new Error(stderr);
  });
  afterAll(() => cli.remove());

  it('resources, by name, those of one’s own roles, and one with all its fields', async () => {
    const { stdout } = await cli.run('resources');
    expect(stdout).toMatch(/^NAME +PROVIDER[^\n]+\nresource-0 +AWS +sg-\w+ +22 +yes +\w{8}\n/);
    const own = await cli.json<{ resources: { name: string }[] }>('resources --assigned');
    expect(own.resources.map(({ name }) => name)).toEqual(['resource-0']);
    const one = await cli.json<{ id: string }>('resources show resource-0');
    expect(one.id).toBe(bench.org.resourceIds[0]);
  });

  it('roles, and users with their roles', async () => {
    expect((await cli.run('roles')).stdout).toContain('Developers');
    expect(await cli.json('roles show Developers')).toMatchObject({ id: bench.org.roleId });
    const { users } = await cli.json<{ users: object[] }>('users --search ada');
    const ada = { email: 'ada@example.com', roleNames: ['Developers'] };
    expect(users).toContainEqual(expect.objectContaining(ada));
    const invited = await cli.run('users invite grace@example.com --role Developers');
    expect(invited.stdout).toContain('grace@example.com is invited: http');
    const { stdout } = await cli.run(`users password-link ${bench.org.adminEmail}`);
    expect(stdout).toMatch(/^http\S+\/reset-password\/[\w-]{43}\n$/);
    expect((await cli.run('roles show nobody')).code).toBe(2);
  });

  it('a list of hundreds as a whole', async () => {
    await bench.drawbridge.query(
      `INSERT INTO users (organization_id, email, name)
       SELECT $1, 'one-of-many-' || n || '@example.com', 'One of many' FROM generate_series(1, 250) n`,
      [bench.org.organizationId],
    );
    const { users } = await cli.json<{ users: { email: string }[] }>('users --search one-of-many');
    expect(new Set(users.map(({ email }) => email)).size).toBe(250);
  });

  it('an administrator sees and ends what a colleague has open, also what a role no longer gives', async () => {
    const { id } = await bench.cli.json<{ id: string }>('start');
    const [short, member] = [id.slice(0, 8), `Developers --user ${bench.org.adminEmail}`];
    const { stdout } = await cli.run('list --everybody');
    expect(stdout).toMatch(new RegExp(`^${short} .* ${bench.org.adminEmail} `, 'm'));
    const { stderr } = await cli.run(`roles unassign ${member}`);
    await cli.run(`roles assign ${member}`);
    expect(stderr).toContain(`keeps resource-0 open; end that with: drawbridge stop ${short}`);
    expect((await cli.run(`stop ${short}`)).stdout).toContain('CANCELLED');
    const own = await cli.json<{ id: string }>('start');
    const refused = await bench.cli.run(`stop ${own.id}`);
    expect(refused).toMatchObject({ code: 5, stderr: containing('belongs to another user') });
    expect((await cli.run('stop')).code).toBe(0);
  });

  it('what a role takes away counts also where it is reached by label', async () => {
    const member = `--user ${bench.org.adminEmail}`;
    await cli.run('resources label --label team=web resource-0');
    const created = await cli.run(`roles create web --selector team=web ${member}`);
    expect(created.stdout).toContain('1 resources in all');
    const { id } = await bench.cli.json<{ id: string }>('start');
    // the other role still gives it
    expect((await cli.run(`roles unassign Developers ${member}`)).stderr).not.toContain('keeps');
    const { stderr, code } = await cli.run(`roles unassign web ${member}`);
    expect(code).toBe(0);
    expect(stderr).toContain(`keeps resource-0 open; end that with: drawbridge stop ${id.slice(0, 8)}`);
    await cli.run(`roles assign Developers ${member}`);
    await cli.run('roles remove web');
    expect((await cli.run(`stop ${id}`)).stdout).toContain('CANCELLED');
  });

  it('a key is printed alone and once, works, and can be revoked', async () => {
    const { stdout, code } = await cli.run('keys create pipeline --scope sessions:read --expires 30');
    expect(code).toBe(0);
    const env = { DRAWBRIDGE_API_KEY: stdout.trim() };
    expect((await cli.run('list', '', env)).code).toBe(0);
    const { apiKeys } = await cli.json<{ apiKeys: { id: string; name: string }[] }>('keys');
    expect(JSON.stringify(apiKeys)).not.toContain(stdout.trim());
    expect(apiKeys.map(({ name }) => name)).toContain('pipeline');
    expect((await cli.run('keys revoke pipeline')).code).toBe(0);
    expect((await cli.run('list', '', env)).code).toBe(5);
    const unknown = await cli.run('keys create x --scope everything');
    expect(unknown).toMatchObject({ code: 2, stderr: containing('scopes') });
  });

  it('static IP rules are added, listed and removed', async () => {
    const added = await cli.run('static-rules add 198.51.100.0/24 --label office -r resource-0');
    expect(added.code).toBe(0);
    expect((await cli.run('static-rules')).stdout).toContain('198.51.100.0/24  office');
    expect((await cli.run('static-rules remove office')).code).toBe(0);
    expect(await cli.json('static-rules')).toEqual({ staticIpRules: [] });
  });

  it('doctor checks server, clock, families, sign-in and resources', async () => {
    const states = statesOf((await cli.run('doctor --json')).stdout);
    expect(states.join(', ')).toBe('server: ok, clock: ok, IPv4: ok, IPv6: ok, sign-in: ok, resources: ok');
  });

  it('doctor shows the scopes of a key, a pool of addresses, and what is missing', async () => {
    const key = await bench.org.plainKey(['sessions:read']);
    bench.proxy.addresses = ['100.64.1.1', '203.0.113.8'];
    const { stdout, code } = await cli.run('doctor --json', '', { DRAWBRIDGE_API_KEY: key });
    expect(code).toBe(0);
    const states = statesOf(stdout);
    expect(states).toEqual(expect.arrayContaining(['IPv4: warning', 'carrier NAT: warning']));
    const ofScopes = ['sessions:read: ok', 'sessions:write: warning', 'resources:read: warning'];
    expect(states).toEqual(expect.arrayContaining(ofScopes));
  });

  it('doctor: 5 for a key that is not known, 6 without a server', async () => {
    expect((await cli.run('doctor', '', { DRAWBRIDGE_API_KEY: 'dbk_unknown' })).code).toBe(5);
    expect((await cli.run('doctor', '', { DRAWBRIDGE_URL: 'http://127.0.0.1:9' })).code).toBe(6);
  });

  it('a name of before with control characters can neither change the terminal nor begin a line', async () => {
    const { drawbridge, org } = bench;
    const name = 'red\u001B[31m\u009B2J\n::warning::\u202Ed';
    const shown = 'red\\u001b[31m\\u009b2J\\u000a::warning::\\u202ed';
    await drawbridge.query('UPDATE roles SET name = $1 WHERE id = $2', [name, org.roleId]);
    const given = ['roles', ['roles', 'show', name], 'roles --json'];
    const [listed, one, json] = await Promise.all(given.map((words) => cli.run(words)));
    await drawbridge.query(`UPDATE roles SET name = 'Developers' WHERE id = $1`, [org.roleId]);
    const unknown = await cli.run(['roles', 'show', name]);
    expect(listed!.stdout).toContain(shown);
    expect(one!.stdout).toContain(shown);
    expect(unknown.stderr).toContain(`There is no role "${shown}"`);
    // the same value, in characters that no terminal obeys
    expect(JSON.parse(json!.stdout)).toMatchObject({ roles: [{ name }] });
    for (const { stdout, stderr } of [listed!, one!, json!, unknown])
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202E|^::/mu);
  });

  it('bash completes commands, subcommands and options', async () => {
    const { stdout } = await cli.run('completion bash');
    const file = join(cli.home, 'completion.bash');
    writeFileSync(file, stdout);
    const completed = (...line: readonly string[]): string[] => {
      const words = line.map((word) => `'${word}'`).join(' ');
      const script = `source ${file}; COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _drawbridge; echo "\${COMPREPLY[*]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
    };
    expect(completed('drawbridge', 'sta')).toEqual(['start', 'status', 'static-rules']);
    expect(completed('drawbridge', 'keys', 'c')).toEqual(['create']);
    expect(completed('drawbridge', 'run', '--pro')).toEqual(['--probe', '--profile']);
    expect(completed('drawbridge', 'run', '--', 'ls', '--a')).toEqual(['']);
  });

  it.each(['zsh', 'fish'])('%s accepts its completion, where it is installed', async (shell) => {
    const { stdout, code } = await cli.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['run', 'static-rules', 'probe']) expect(stdout).toContain(word);
    const checked = spawnSync(shell, ['-n', '/dev/stdin'], { input: stdout, encoding: 'utf8' });
    const isMissing = checked.error !== undefined;
    expect(isMissing ? '' : checked.stderr).toBe('');
  });
});
