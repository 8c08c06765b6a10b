import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { totpOf } from '../builders/accounts/accounts';
import { Drawbridge } from '../harness/product/drawbridge';
import { neededInCi } from '../harness/needed-in-ci';
import { describeInTerminal, Terminal } from '../harness/machines/terminal';

const DOCS = resolve(__dirname, '../../docs');

/** The blocks of commands of a page, in their order. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, commands]) => commands!);
}

const hasJq = neededInCi('jq', spawnSync('jq', ['--version']).status === 0);
if (!hasJq) process.stderr.write('\n*** jq is not on the PATH: the setup pages WERE NOT FOLLOWED ***\n\n');

(hasJq ? describe : describe.skip)('The page', () => {
  const drawbridge = Drawbridge.shared();
  let api: string;
  /** what the commands print that create the organization which the pages name */
  let registered: string;
  let home: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'drawbridge-page-'));
    api = `http://127.0.0.1:${drawbridge.apiServer.port}`;
    const [register] = commandsOf('try-your-own.md');
    registered = await run(register!);
    // pasted again: another organization of the same name knows the e-mail too
    await run(register!);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  /** The addresses of this test in place of those of `npm start`. */
  const moved = (...commands: string[]): string =>
    commands
      .join('\n')
      .replaceAll('http://localhost:3000', api)
      .replaceAll('http://localhost:4666', drawbridge.cloud.url);

  const run = async (...commands: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', moved(...commands)], {
      env: { PATH: process.env['PATH'], HOME: home },
      cwd: home,
    });
    return stdout;
  };

  /** Sign in, create the credential, show the set-up, register the trust, verify, create a resource. */
  const blocksOf = (page: string): [string, string, string, string, string, string] => {
    const blocks = commandsOf(page);
    expect(blocks).toHaveLength(6);
    return blocks as [string, string, string, string, string, string];
  };

  it('try-your-own.md, whose organization the pages name, can be followed literally', async () => {
    for (const line of [
      'Signed in at',
      'aws is accepted by AWS.',
      'database is active: sessions may use it.',
      '  users      me@example.com',
      '  203.0.113.77 on database: APPLIED',
    ])
      expect(registered).toContain(line);
    expect(registered).toMatch(/^203\.0\.113\.77\/32 +database +tcp 5432 +me@example\.com .* open$/m);
    const addresses = (await drawbridge.cloud.rules()).map(({ address }) => address);
    expect(addresses).toContain('203.0.113.77');
    const [, pay, token, requests] = commandsOf('try-your-own.md');
    expect(await run(pay!)).toMatch(/^http\S+$/m);
    expect(await run(token!)).toContain('"ipv4Address":"203.0.113.77"');
    const requested = await run(requests!);
    expect(requested).toMatch(/^true$/m);
    expect(requested).toContain('"status": "PENDING"');
  });

  it.each(['setup-aws.md', 'setup-gcp.md', 'setup-azure.md'])(
    '%s can be followed literally',
    async (page) => {
      const [signIn, create, setup, trust, verify, use] = blocksOf(page);
      const refused = await run(signIn, create, verify);
      expect(refused).not.toContain('"isValid": true');
      expect(refused).not.toContain('"verificationError": null');
      const [subject, ...commands] = (await run(signIn, create, 'echo "$SUBJECT"', setup)).split('\n');
      expect(commands.join('\n')).toContain(subject!);
      const followed = await run(signIn, create, trust, verify, use);
      for (const field of ['isValid', 'isActive'])
        expect(followed).toContain(`{\n  "${field}": true,\n  "verificationError": null\n}`);
    },
  );

  /** @returns what is printed before a command fails */
  const saidBy = (...commands: string[]): Promise<string> =>
    run(...commands).catch(({ stdout }: { stdout: string }) => stdout);

  it('shows what the API says when the access token has expired', async () => {
    const [signIn, create] = blocksOf('setup-aws.md');
    const said = await saidBy(signIn, 'TOKEN=expired', create, 'echo "credential:${CREDENTIAL-none}"');
    expect(said).toMatch(/access token is invalid or expired[^]*credential:none/);
  });

  it('mfa.md can be followed literally', async () => {
    const [, require, signIn, setUp] = commandsOf('mfa.md');
    const [begin, confirm] = setUp!.trim().split('\n');
    const [register] = commandsOf('try-your-own.md')[0]!.match(/^echo .* register .*$/m)!;
    const asMfa = (...commands: string[]): Promise<string> =>
      run('drawbridge() { ./drawbridge "$@" --profile mfa </dev/null; }', `API=${api}/api/v1`, ...commands);
    const email = 'mfa@example.com';
    await run(`${register.replace('me@example.com', email)} --profile mfa`);
    const secret = (await asMfa(begin!)).trim();
    const code = `CODE=${totpOf(secret).generate()}`;
    const [recoveryCode, ...others] = (await asMfa(code, confirm!)).trim().split('\n');
    expect(others).toHaveLength(7);
    expect(await asMfa(require!)).toContain('"mfaRequired": true');
    const signedIn = await asMfa(`CODE=${recoveryCode}`, signIn!.replace('me@example.com', email));
    expect(signedIn).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/m);
  });

  it('shows what the API says when it refuses the resource', async () => {
    const [signIn, create, , , , use] = blocksOf('setup-aws.md');
    const unknown = use.replace('sg-0123456789abcdef4', 'none');
    expect(await saidBy(signIn, create, unknown)).toContain('resourceIdentifier');
  });

  describeInTerminal('with a second factor', () => {
    it('requests.md can be followed literally', async () => {
      const [invite, reason, approval, glass, review] = commandsOf('requests.md');
      await run(invite!);
      const reasoned = await run(reason!);
      expect(reasoned).toContain('  asks for   a reason like INC-*\n');
      expect(reasoned).toContain('  203.0.113.78 on database: APPLIED\n');
      expect(reasoned).toMatch(/^INC-12: the disk is full$/m);
      const approved = await run(approval!);
      expect(approved).toMatch(/^ {2}asks for {3}1 approval by leads\n[^]* APPROVED\n/m);
      expect(approved).toContain('203.0.113.79 on production: APPLIED');
      const commands = `cd "${home}"; ${moved(glass!).trim().replaceAll('\n', ' && ')}`;
      const terminal = new Terminal(commands, { PATH: process.env['PATH']!, HOME: home });
      try {
        const [, secret] = /enter the secret there: (\w+)/.exec(await terminal.shows('Its first code'))!;
        terminal.type(totpOf(secret!).generate());
        const screen = await terminal.shows('Authenticator or recovery code');
        const [, recoveryCode] = /Each works once; keep them elsewhere:\s+(\S+)/.exec(screen)!;
        terminal.type(recoveryCode!);
        await terminal.shows('203.0.113.80 on production: APPLIED');
      } finally {
        terminal.close();
      }
      expect(await run(review!)).toContain('INC-14: nobody answers');
      expect(await run('./drawbridge requests --review --profile ada')).toBe('No access request.\n');
    });
  });
});
