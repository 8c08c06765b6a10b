import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { press } from '../builders/billing/billing';
import { group, SIMULATED_KEY } from '../builders/accounts/organization';
import { PASSWORD } from '../builders/accounts/people';
import { containing, matching } from '../harness/matching';
import { CommandLine, type Words } from '../harness/product/command-line';
import { Drawbridge } from '../harness/product/drawbridge';

const EMAIL = 'me@example.com';
const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: SIMULATED_KEY.accessKeyId,
  AWS_SECRET_ACCESS_KEY: SIMULATED_KEY.secretAccessKey,
};

/** Everything that a new administrator does, in its order, by names alone. */
describe('The command line sets up an organization', () => {
  const drawbridge = Drawbridge.shared();
  const cli = new CommandLine();
  let url: string;

  beforeAll(() => {
    url = `http://127.0.0.1:${drawbridge.apiServer.port}`;
  });
  afterAll(() => cli.remove());

  const run = (words: Words): ReturnType<CommandLine['run']> => cli.run(words);
  const done = async (words: Words): Promise<string> => {
    const { code, stdout, stderr } = await run(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: containing('') });
    return stdout;
  };

  it('register makes an organization and signs in; whoami says as whom', async () => {
    const register = `register --url ${url} --organization Mine --email ${EMAIL} --password-stdin`;
    const { stdout, stderr } = await cli.run(register, `${PASSWORD}\n`);
    expect(stdout).toBe(`Signed in at ${url} with ${EMAIL}.\n`);
    expect(stderr).toContain('the short name of the organization is mine');
    expect(await done('whoami')).toContain(`${EMAIL}, administrator of Mine (mine)`);
    expect(await done('api GET /api/v1/auth/sign-ins')).toMatch(/"userAgent": ?"drawbridge"/);
  });

  it('billing shows the limits; subscribe names what is missing, then the page to pay on', async () => {
    expect(await done('billing')).toMatch(/\nFree +yes +none +4 +5 +5\nPaid +no +49\.00 EUR a month +24 +no/);
    for (let more = 1; more < 5; more += 1) await done(`users invite ${more}@example.com`);
    const full = await run('users invite 5@example.com');
    expect(full).toMatchObject({ code: 2, stderr: containing('drawbridge billing subscribe') });
    const subscribe = `billing subscribe --company Mine --email ${EMAIL} --city Berlin`;
    const missing = await run(subscribe);
    const options = ['--address', '--postal-code', '--country'];
    expect([missing.code, missing.stderr.match(/--[\w-]+/g)]).toEqual([2, options]);
    const page = await done(`${subscribe} --address Main-Street-1 --postal-code 10115 --country DE`);
    await press(page.trim(), 'confirm');
    expect(await done('billing')).toMatch(/\nPaid +yes/);
    for (let more = 1; more < 5; more += 1) await done(`users remove ${more}@example.com`);
  });

  it('a credential comes from variables, a file or standard input, and is checked', async () => {
    const named = await cli.run('credentials create aws --provider aws --from-env', '', ENVIRONMENT);
    expect(named.stdout).toBe('aws is accepted by AWS.\n');
    const file = join(cli.home, 'key.json');
    writeFileSync(file, JSON.stringify({ ...SIMULATED_KEY, secretAccessKey: 'wrong' }));
    const wrong = await run(`credentials create second --provider AWS --data ${file}`);
    expect(wrong).toMatchObject({ code: 4, stdout: 'second is NOT accepted by AWS.\n' });
    expect(wrong.stderr).toContain('SignatureDoesNotMatch');
    const rotated = await cli.run('credentials rotate second --data -', JSON.stringify(SIMULATED_KEY));
    expect(rotated.stdout).toBe('second is accepted by AWS.\n');
    expect(await done('credentials verify second')).toContain('second is accepted');
    expect(await done('credentials remove second')).toBe('second is removed.\n');
    expect(await done('credentials')).toMatch(/^NAME[^\n]+\naws +AWS +ACCESS_KEY +yes/);
  });

  it('no option takes a secret, and all that is missing is named', async () => {
    const create = 'credentials create x --provider AWS';
    const set = await run(`${create} --type ACCESS_KEY --set secretAccessKey=canary`);
    expect(set).toMatchObject({ code: 2, stderr: containing('--set: secretAccessKey is a secret') });
    expect(set.stderr).not.toContain('canary');
    const missing = await run(`${create} --type ACCESS_KEY`);
    expect(missing.stderr).toContain('Missing: accessKeyId, secretAccessKey');
    expect(missing.stderr).toContain('AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY');
    expect((await run(create)).stderr).toContain('--type ACCESS_KEY');
    const none = await run(`${create} --from-env`);
    expect(none.stderr).toContain('set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY for ACCESS_KEY; or ');
    const half = await cli.run(`${create} --from-env`, '', { AWS_ACCESS_KEY_ID: 'AKIA' });
    expect(half.stderr).toContain('Missing: secretAccessKey\n  Fix: set AWS_SECRET_ACCESS_KEY');
    const role = '--set roleArn=arn:aws:iam::123456789012:role/x --type assume_role --no-verify';
    expect(await done(`${create} ${role}`)).toBe('x is stored.\n');
    expect(await done('credentials show x')).toMatch(/^externalId +\S+$/m);
  });

  it('a resource names its ports or wants every one; its type is known by its identifier', async () => {
    const create = `resources create database --credential aws --identifier ${group(3)}`;
    const named = `${create} --endpoint db.example.com:5432`;
    const missing = matching(/Missing: --region, such as \S+; --port N, or --all-ports/);
    expect(await run(named)).toMatchObject({ code: 2, stderr: missing });
    const region = '--region eu-central-1';
    for (const port of ['postgres', '5432,6379', '5432-5440', '5432x', '0', '65536']) {
      const { code, stderr } = await run(`${named} ${region} --port ${port}`);
      expect([port, code, stderr]).toEqual([port, 2, containing('repeat --port')]);
    }
    const set = await run(`${named} ${region} --all-ports --set port=postgres`);
    expect(set).toMatchObject({ code: 2, stderr: containing('--set: port') });
    expect(await done('resources')).toBe('No resource.\n');
    const created = await done(`${named} ${region} --port 5432 --port 22`);
    expect(created).toBe('database is active: sessions may use it.\n');
    expect(await done('resources')).toContain('db.example.com:5432');
    const unknown = await run(`resources create y --credential aws --identifier x ${region}`);
    expect(unknown.stderr).toContain('--type SECURITY_GROUP --identifier sg-');
    const elsewhere = 'resources create gone --credential aws --identifier sg-0123456789abcde99';
    const absent = await run(`${elsewhere} ${region} --all-ports`);
    expect(absent.code).toBe(2);
    expect(absent.stderr).toContain('gone is stored; next: drawbridge resources verify gone');
    expect(absent.stderr).toContain('gone: opens every TCP port');
    const taken = await run(`${create} ${region} --all-ports`);
    expect(taken).toMatchObject({ code: 2, stderr: containing('resources update') });
  });

  it('a resource is changed by its name', async () => {
    const changed = await done('resources update database --name db --port 5433');
    expect(changed).toBe('db is changed. Ports: 5433\n');
    await done('resources update db --protocol udp');
    const { resources } = await cli.json<{ resources: object[] }>('resources');
    const config = { port: 5433, protocol: 'udp' };
    expect(resources).toContainEqual(expect.objectContaining({ name: 'db', config }));
    expect((await run('resources update db --all-ports')).stderr).toContain('opens every UDP port');
    expect((await run('resources update db --name gone')).code).toBe(2);
    expect((await run('resources update db')).stderr).toContain('Missing: --port');
    const former = '--name database --protocol tcp --port 5432 --port 22';
    expect(await done(`resources update db ${former}`)).toBe('database is changed. Ports: 5432, 22\n');
  });

  it('a role has resources and users by name, and says so; what is so stays so', async () => {
    const members = '--resource database --user me';
    expect(await done(`roles create developers ${members}`)).toBe(
      `developers\n  resources  database\n  users      ${EMAIL}\n`,
    );
    const first = await done('users invite ada@example.com');
    const second = await done('users invite Ada@example.com');
    expect(second).toMatch(/^ada@example.com is invited again: http\S+\n$/);
    expect(second.split(': ')[1]).not.toBe(first.split(': ')[1]);
    const useless = await run('users invite ada@example.com');
    expect(useless.stderr).toMatch(
      /ada@example\.com: has no role: .*\n.*: the link leads to this machine only/,
    );
    const invite = 'users invite --role developers';
    const some = await run(`${invite} grace@example.com,alan@example.com not-an-address`);
    const invited = ['grace@example.com', 'alan@example.com'];
    expect([some.code, some.stdout.match(/^\S+(?= is invited: http)/gm)]).toEqual([2, invited]);
    expect(some.stderr).toContain('not-an-address is not invited: email must be a well-formed');
    expect(some.stderr).not.toContain('has no role');
    for (const one of invited) await done(`users remove ${one}`);
    expect((await run(`${invite} ada@example.com`)).stderr).not.toContain('has no role');
    await done(`roles assign developers ${members} --user ada@example.com`);
    expect(await done('roles')).toMatch(/developers +database +(?:\S+@example\.com(?:, )?){2} /);
    const unassign = 'roles unassign developers --user ada@example.com';
    expect(await done(`${unassign} --dry-run`)).toMatch(/Rights lost: 1,[^]*ada@example\.com on database/);
    const kept = await done('users remove ada@example.com --dry-run');
    expect(kept).toMatch(/Rights lost: 1,[^]*\nNothing was changed\.\n$/);
    await done(unassign);
    expect(await done('users --search ada')).toMatch(/ada@example\.com +INVITED +no +never/);
    expect((await run('roles assign developers')).stderr).toContain('--resource or --user');
    expect((await run('roles lst')).stderr).toContain('There is no command "drawbridge roles lst"');
  });

  it('a change of a role leaves what is not given, also who approves', async () => {
    await done('roles create leads');
    const asks = async (options: string): Promise<string | undefined> =>
      /asks for +(.*)/.exec(await done(`roles change developers ${options}`))?.[1];
    expect(await asks('--approvals 1 --approver leads')).toBe('1 approval by leads');
    expect(await asks('--approvals 2')).toBe('2 approvals by leads');
    expect(await asks('--no-approver')).toBe('2 approvals by administrators');
    expect(await asks('--no-approver --approver leads')).toBe('2 approvals by leads');
    expect(await asks('--approvals 0')).toBeUndefined();
    const half = await run('roles create half --approver leads');
    expect(half).toMatchObject({ code: 2, stderr: containing('Missing: --approvals') });
    await done('roles remove leads');
  });

  it('many are imported, labelled and removed at once', async () => {
    const file = join(cli.home, 'resources.csv');
    const rows = [4, 5].map((n) => `imported-${n},aws,SECURITY_GROUP,${group(n)},eu-central-1,22 443,prod`);
    writeFileSync(file, ['name,credential,type,identifier,region,ports,label:env', ...rows].join('\n'));
    const imported = await run(`resources import ${file}`);
    expect(imported.stdout).toMatch(/\nimported-4 +DONE *\nimported-5 +DONE *\n$/);
    expect(imported.stderr).toContain('once it is verified');
    expect(await done(`resources import ${file}`)).toMatch(/\nimported-4 +UNCHANGED/);
    await done('resources label --label team=web --unlabel env imported-4 imported-5');
    expect(await done('resources --label team=web')).toMatch(/\nimported-4 [^]*\nimported-5 /);
    expect(await done('resources --label env=prod')).toBe('No resource.\n');
    const people = 'grace@example.com alan@example.com';
    await done(`users invite ${people}`);
    expect(await done(`users remove --dry-run ${people}`)).toMatch(/\nNothing was changed\.\n$/);
    expect(await done(`users remove ${people}`)).toMatch(/\ngrace\S+ +DONE *\nalan\S+ +DONE *\n$/);
  });

  it('a service user has a key, and a trust lets in jobs without one', async () => {
    await done('users create-service pipeline --role developers');
    const key = await done('keys create deploy --user pipeline');
    const env = { DRAWBRIDGE_URL: url, DRAWBRIDGE_API_KEY: key.trim() };
    const started = await cli.run('start --ipv4 203.0.113.80 --json', '', env);
    expect(JSON.parse(started.stdout)).toMatchObject({ status: 'ACTIVE' });
    const conditions = ['repository_id=74', 'repository_owner_id=65', 'environment=production'];
    const given = conditions.map((one) => `--condition ${one}`).join(' ');
    const created = await done(`trusts create ci --preset github ${given} --role developers`);
    expect(created).toMatch(/^ci is trusted. Paste into its job:\n {2}url: (\S+)\n {2}trust: \1\/o\/\S+\n$/);
    expect(await done('trusts')).toContain('environment=production repository_id=74 repository_owner_id=65');
    expect(await done('trusts remove ci')).toBe('ci is removed.\n');
  });

  it('the trail and the report say what happened', async () => {
    expect(await done('audit --since 1h --limit 300')).toContain('ROLE_CREATED');
    const { records } = await cli.json<{ records: object[] }>('audit --event API_KEY_CREATED');
    expect(records).toEqual([expect.objectContaining({ actorEmail: EMAIL, resourceName: 'deploy' })]);
    const report = await done('report --resource database');
    expect(report).toMatch(/203\.0\.113\.80\/32 +database +tcp 22 .* open/);
    expect(await done('report')).toContain('203.0.113.80/32');
    expect((await run('report --from 2h')).stderr).toContain('Give one of --resource');
    const unknown =
      /^drawbridge: --event: there is no "session-start"\n {2}Fix: one of SESSION_STARTED,(?: \w+,?){3} …\n$/;
    expect(await run('audit --event session-start')).toMatchObject({ code: 2, stderr: matching(unknown) });
    expect(await done('report --user me --from 2h')).toBe('No access.\n');
    expect((await run('audit --since x')).stderr).toContain('--since: "x" is no time');
  });

  it('what a start without names leaves out is named', async () => {
    await done('roles assign developers --resource gone');
    const stderr = containing('left out, as not verified or inactive: gone');
    for (const start of ['start --dry-run', 'start'])
      expect(await run(`${start} --ipv4 203.0.113.97`)).toMatchObject({ code: 0, stderr });
    await done('stop --all');
    await done('roles unassign developers --resource gone');
  });

  it('lockdown ends all access and refuses more, until it is lifted', async () => {
    expect((await run('lockdown')).stderr).toContain('Missing: --reason');
    expect(await done('lockdown --help')).toMatch(/Without a command: declare[^]*--reason[^]*--user/);
    const declare = 'lockdown --reason INC-12';
    for (const own of [`${declare} --user ${EMAIL}`, `${declare} --user ${EMAIL} --dry-run`])
      expect(await run(own)).toMatchObject({ code: 2, stderr: containing('No other administrator') });
    expect(await done(`${declare} --dry-run`)).toMatch(/^Sessions that end: \d+ [^]*Nothing was changed/);
    expect(await done(`${declare} --static-rules`)).toMatch(/ended: \d+, static IP rules closed: \d+\.\n$/);
    const refused = await run('start --ipv4 203.0.113.99');
    expect(refused).toMatchObject({ code: 5, stderr: containing(`by ${EMAIL} since `) });
    expect(refused.stderr).toContain('Another administrator lifts it with drawbridge lockdown lift\n');
    expect((await run('doctor')).stdout).toContain('INC-12');
    expect(await done('whoami')).toContain(`locked down    by ${EMAIL}: INC-12`);
    await done('lockdown lift');
    expect(await done('whoami')).not.toContain('locked down');
  });

  it('api sends any request, with its body from an option, a file or standard input', async () => {
    expect(JSON.parse(await done('api GET /sessions?active=true'))).toEqual([]);
    expect(await done('api PATCH /organization -d {"name":"Ours"}')).toContain('"name": "Ours"');
    const [from, to] = [Date.now() - 3_600_000, Date.now()].map((one) => new Date(one).toISOString());
    const csv = await done(`api GET /reports/access?address=203.0.113.80&from=${from}&to=${to}&format=csv`);
    expect(csv).toMatch(/^\w+(?:,\w+)+\n[^\\]+\n$/);
    const file = join(cli.home, 'role.json');
    writeFileSync(file, '{"name":"ops"}');
    expect(await done(`api post /roles -d @${file}`)).toContain('"name": "ops"');
    const piped = await cli.run('api POST /roles', '{"name":"more"}');
    expect(piped.stdout).toContain('"name": "more"');
    const refused = await run('api POST /roles -d {"name":"ops"} --json');
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { exitCode: 2 } });
    for (const path of ['http://127.0.0.1:9/', '//127.0.0.1:9/', 'sessions'])
      expect((await run(`api GET ${path}`)).stderr).toContain('must begin with one slash');
  });

  it('token prints a token for other programs, with a second factor too; a key has none', async () => {
    const token = (await done('token')).trim();
    expect(await drawbridge.api.as({ token }).get('/auth/me')).toMatchObject({ body: { email: EMAIL } });
    const env = { DRAWBRIDGE_URL: url, DRAWBRIDGE_API_KEY: 'dbk_x' };
    expect((await cli.run('token', '', env)).stderr).toContain('has no access token');
  });
});
