import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliBench } from '../builders/programs/cli-bench';
import { PASSWORD } from '../builders/accounts/people';
import { CommandLine } from '../harness/product/command-line';

interface Doctor {
  readonly checks: readonly { readonly name: string; readonly state: string; readonly message: string }[];
}

describe('The command line shows an organization', () => {
  let bench: CliBench;
  /** signed in as an administrator */
  let cli: CommandLine;

  beforeAll(async () => {
    bench = await CliBench.start();
    const { admin } = bench.org;
    const account = { email: 'ada@example.com', password: PASSWORD, isOrgAdmin: true };
    await admin.expect(201, admin.post('/users', { ...account, roleIds: [bench.org.roleId] }));
    cli = new CommandLine();
    const args = [
      'login',
      '--url',
      `${bench.proxy.url}/api/v1/`,
      '--email',
      account.email,
      '--password-stdin',
    ];
    const { code, stderr } = await cli.run(args, `${PASSWORD}\n`);
    if (code !== 0) throw new Error(stderr);
  });
  afterAll(async () => {
    await cli.remove();
    await bench.stop();
  });

  it('resources, by name, those of one’s own roles, and one with all its fields', async () => {
    const { stdout } = await cli.run(['resources']);
    expect(stdout).toMatch(/^NAME +PROVIDER[^\n]+\nresource-0 +AWS +sg-\w+ +22 +yes +\w{8}\n/);
    const own = await cli.json<{ resources: { name: string }[] }>(['resources', '--assigned']);
    expect(own.resources.map(({ name }) => name)).toEqual(['resource-0']);
    const one = await cli.json<{ id: string }>(['resources', 'show', 'resource-0']);
    expect(one.id).toBe(bench.org.resourceIds[0]);
  });

  it('roles, and users with their roles', async () => {
    expect((await cli.run(['roles'])).stdout).toContain('Developers');
    expect(await cli.json(['roles', 'show', 'Developers'])).toMatchObject({ id: bench.org.roleId });
    const { users } = await cli.json<{ users: { email: string; roleNames: string[] }[] }>([
      'users',
      '--search',
      'ada',
    ]);
    // made-up addresses of others may have these letters
    const found = users.filter(({ email }) => email.startsWith('ada@'));
    expect(found).toMatchObject([{ email: 'ada@example.com', roleNames: ['Developers'] }]);
    const invited = await cli.run(['users', 'invite', 'grace@example.com', '--role', 'Developers']);
    expect(invited.stdout).toContain('grace@example.com is invited: http');
    const { stdout } = await cli.run(['users', 'password-link', bench.org.adminEmail]);
    expect(stdout).toMatch(/^http\S+\/reset-password\/[\w-]{43}\n$/);
    expect((await cli.run(['roles', 'show', 'nobody'])).code).toBe(2);
  });

  it('a list of hundreds as a whole', async () => {
    await bench.drawbridge.query(
      `INSERT INTO users (organization_id, email, name)
       SELECT $1, 'one-of-many-' || n || '@example.com', 'One of many' FROM generate_series(1, 250) n`,
      [bench.org.organizationId],
    );
    const { users } = await cli.json<{ users: { email: string }[] }>(['users', '--search', 'one-of-many']);
    expect(new Set(users.map(({ email }) => email)).size).toBe(250);
  });

  it('an administrator sees and ends what a colleague has open, also what a role no longer gives', async () => {
    const { id } = await bench.cli.json<{ id: string }>(['start']);
    const [short, member] = [id.slice(0, 8), ['Developers', '--user', bench.org.adminEmail]];
    const { stdout } = await cli.run(['list', '--everybody']);
    expect(stdout).toMatch(new RegExp(`^${short} .* ${bench.org.adminEmail} `, 'm'));
    const { stderr } = await cli.run(['roles', 'unassign', ...member]);
    await cli.run(['roles', 'assign', ...member]);
    expect(stderr).toContain(`keeps resource-0 open; end that with: drawbridge stop ${short}`);
    expect((await cli.run(['stop', short])).stdout).toContain('CANCELLED');
    const own = await cli.json<{ id: string }>(['start']);
    const { code, stderr: refusal } = await bench.cli.run(['stop', own.id]);
    expect([code, refusal.includes('belongs to another user')]).toEqual([5, true]);
    expect((await cli.run(['stop'])).code).toBe(0);
  });

  it('what a role takes away counts also where it is reached by label', async () => {
    const unassign = (role: string): string[] => ['roles', 'unassign', role, '--user', bench.org.adminEmail];
    await cli.run(['resources', 'label', '--label', 'team=web', 'resource-0']);
    const create = ['roles', 'create', 'web', '--selector', 'team=web', '--user', bench.org.adminEmail];
    expect((await cli.run(create)).stdout).toContain('1 resources in all');
    const { id } = await bench.cli.json<{ id: string }>(['start']);
    // the other role still gives it
    expect((await cli.run(unassign('Developers'))).stderr).not.toContain('keeps');
    const { stderr, code } = await cli.run(unassign('web'));
    expect(code).toBe(0);
    expect(stderr).toContain(`keeps resource-0 open; end that with: drawbridge stop ${id.slice(0, 8)}`);
    await cli.run(['roles', 'assign', 'Developers', '--user', bench.org.adminEmail]);
    await cli.run(['roles', 'remove', 'web']);
    expect((await cli.run(['stop', id])).stdout).toContain('CANCELLED');
  });

  it('a key is printed alone and once, works, and can be revoked', async () => {
    const args = ['keys', 'create', 'pipeline', '--scope', 'sessions:read', '--expires', '30'];
    const { stdout, code } = await cli.run(args);
    expect(code).toBe(0);
    const env = { DRAWBRIDGE_API_KEY: stdout.trim() };
    expect((await cli.run(['list'], '', env)).code).toBe(0);
    const { apiKeys } = await cli.json<{ apiKeys: { id: string; name: string }[] }>(['keys']);
    expect(JSON.stringify(apiKeys)).not.toContain(stdout.trim());
    expect(apiKeys.map(({ name }) => name)).toContain('pipeline');
    expect((await cli.run(['keys', 'revoke', 'pipeline'])).code).toBe(0);
    expect((await cli.run(['list'], '', env)).code).toBe(5);
    const unknown = await cli.run(['keys', 'create', 'x', '--scope', 'everything']);
    expect([unknown.code, unknown.stderr.includes('scopes')]).toEqual([2, true]);
  });

  it('static IP rules are added, listed and removed', async () => {
    const args = ['static-rules', 'add', '198.51.100.0/24', '--label', 'office', '-r', 'resource-0'];
    expect((await cli.run(args)).code).toBe(0);
    expect((await cli.run(['static-rules'])).stdout).toContain('198.51.100.0/24  office');
    expect((await cli.run(['static-rules', 'remove', 'office'])).code).toBe(0);
    const { staticIpRules } = await cli.json<{ staticIpRules: unknown[] }>(['static-rules']);
    expect(staticIpRules).toEqual([]);
  });

  it('doctor checks server, clock, families, sign-in and resources', async () => {
    const { checks } = await cli.json<Doctor>(['doctor']);
    expect(checks.map(({ name, state }) => `${name}: ${state}`)).toEqual([
      'server: ok',
      'clock: ok',
      'IPv4: ok',
      'IPv6: ok',
      'sign-in: ok',
      'resources: ok',
    ]);
  });

  it('doctor shows the scopes of a key, a pool of addresses, and what is missing', async () => {
    const { admin } = bench.org;
    const body = { name: 'reader', scopes: ['sessions:read'] };
    const { plainTextKey } = await admin.expect(201, admin.post<{ plainTextKey: string }>('/api-keys', body));
    const before = bench.proxy.addresses;
    bench.proxy.addresses = ['100.64.1.1', '203.0.113.8'];
    const env = { DRAWBRIDGE_API_KEY: plainTextKey };
    const { stdout, code } = await cli.run(['doctor', '--output', 'json'], '', env);
    bench.proxy.addresses = before;
    expect(code).toBe(0);
    const states = (JSON.parse(stdout) as Doctor).checks.map(({ name, state }) => `${name}: ${state}`);
    expect(states).toEqual(
      expect.arrayContaining([
        'IPv4: warning',
        'carrier NAT: warning',
        'sessions:read: ok',
        'sessions:write: warning',
        'resources:read: warning',
      ]),
    );
  });

  it('doctor: 5 for a key that is not known, 6 without a server', async () => {
    expect((await cli.run(['doctor'], '', { DRAWBRIDGE_API_KEY: 'dbk_unknown' })).code).toBe(5);
    expect((await cli.run(['doctor'], '', { DRAWBRIDGE_URL: 'http://127.0.0.1:9' })).code).toBe(6);
  });

  it('a name of before with control characters can neither change the terminal nor begin a line', async () => {
    const { drawbridge, org } = bench;
    const name = 'red\u001B[31m\u009B2J\n::warning::\u202Ed';
    const shown = 'red\\u001b[31m\\u009b2J\\u000a::warning::\\u202ed';
    await drawbridge.query('UPDATE roles SET name = $1 WHERE id = $2', [name, org.roleId]);
    const [listed, one, json] = await Promise.all([
      cli.run(['roles']),
      cli.run(['roles', 'show', name]),
      cli.run(['roles', '--output', 'json']),
    ]);
    await drawbridge.query(`UPDATE roles SET name = 'Developers' WHERE id = $1`, [org.roleId]);
    const unknown = await cli.run(['roles', 'show', name]);
    expect(listed.stdout).toContain(shown);
    expect(one.stdout).toContain(shown);
    expect(unknown.stderr).toContain(`There is no role "${shown}"`);
    // the same value, in characters that no terminal obeys
    expect((JSON.parse(json.stdout) as { roles: { name: string }[] }).roles[0]!.name).toBe(name);
    for (const { stdout, stderr } of [listed, one, json, unknown])
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202E|^::/mu);
  });

  it('bash completes commands, subcommands and options', async () => {
    const { stdout } = await cli.run(['completion', 'bash']);
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
