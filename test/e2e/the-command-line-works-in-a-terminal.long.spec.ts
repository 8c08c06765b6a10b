import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountOwner, ownerWithMfa, totpOf } from '../builders/accounts/accounts';
import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import { PASSWORD } from '../builders/accounts/people';
import { CLI } from '../harness/product/command-line';
import { describeInTerminal, Terminal } from '../harness/machines/terminal';

/** Says whether it has a terminal, and how often Ctrl-C has reached it half a second after the first time. */
const COUNTING = `let count = 0;
process.on('SIGINT', () => { count += 1; if (count === 1) setTimeout(() => { console.log('interrupts ' + count); process.exit(3); }, 500); });
setInterval(() => {}, 1000);
console.log('terminal ' + [process.stdin, process.stdout, process.stderr].every((stream) => stream.isTTY));`;

describeInTerminal('The command line in a terminal', () => {
  const bench = CliBench.own();
  let terminal: Terminal | undefined;
  let counting: string;

  beforeAll(() => {
    counting = join(bench.cli.home, 'counting.cjs');
    writeFileSync(counting, COUNTING);
  });
  afterEach(() => terminal?.close());

  const open = (command: string, env: Readonly<Record<string, string>> = {}, columns = 200): Terminal => {
    const program = `"${process.execPath}" "${CLI}" ${command}`;
    terminal = new Terminal(program, { ...bench.cli.environment, ...env }, columns);
    return terminal;
  };
  const keyless = { DRAWBRIDGE_API_KEY: '' };

  it('the command has the terminal, Ctrl-C reaches it once, and the access ends', async () => {
    const shown = open(`run -- "${process.execPath}" "${counting}"`);
    await shown.shows('terminal true');
    await bench.allows(CLI_ADDRESS);
    shown.press('C-c');
    await shown.shows('interrupts 1');
    await shown.shows('ended with 3');
    expect(await bench.live()).toEqual([]);
  });

  it('a token is not shown, unless it is meant to be', async () => {
    const shown = open('token');
    expect(await shown.shows('ended with 2')).toContain('or add --force');
    shown.close();
    // a key has none
    expect(await open('token --force').shows('ended with 2')).toContain('has no access token');
  });

  it('a terminal that is closed ends the command and the access', async () => {
    const shown = open(`run -- "${process.execPath}" "${counting}"`);
    await shown.shows('terminal true');
    await bench.allows(CLI_ADDRESS);
    shown.close();
    await bench.allows();
    expect(await bench.live()).toEqual([]);
  });

  it('a table can be read at 44 columns', async () => {
    const started = await bench.cli.json<{ id: string }>('start');
    const screen = await open('list', {}, 44).shows('ended with 0');
    await bench.cli.run('stop');
    const lines = screen.split('\n').map((line) => line.trimEnd());
    expect(lines).toEqual(
      expect.arrayContaining([
        started.id.slice(0, 8),
        '  resources  resource-0',
        expect.stringMatching(/^ {2}ends {7}\d\d:\d\d \(in 5\d min\)$/) as string,
      ]),
    );
  });

  it('a password that is typed is not shown', async () => {
    const account = { email: 'ada@example.com', password: PASSWORD };
    await bench.org.admin.created('/users', account);
    const shown = open('login', keyless);
    await shown.shows('E-mail:');
    shown.type(account.email);
    await shown.shows('Password:');
    shown.type(PASSWORD);
    const screen = await shown.shows('Signed in');
    expect(screen).not.toContain(PASSWORD);
  });

  it('sets up the second factor that an organization requires, while somebody signs in', async () => {
    const owner = await accountOwner(bench.drawbridge);
    await owner.organizationSets('mfa_required', true);
    const signIn = `login --email ${owner.email}`;
    const piped = await bench.cli.run(`${signIn} --password-stdin`, `${owner.password}\n`, keyless);
    expect(piped.stderr).toContain('Fix: sign in on a terminal: drawbridge login --url http');
    const shown = open(signIn, keyless);
    await shown.shows('Password:');
    shown.type(owner.password);
    const [, secret] = /enter the secret there: (\w+)/.exec(await shown.shows('Its first code:'))!;
    shown.type('000000');
    await shown.shows('The code is wrong');
    shown.type(totpOf(secret!).generate());
    expect(await shown.shows('Signed in')).toMatch(/Recovery codes[^]*\n {2}\w{4}-\w{4}-/);
    expect((await bench.cli.run('whoami', '', keyless)).stdout).toContain('second factor  on');
    const off = await bench.cli.run('mfa off --code-stdin', '000000\n', keyless);
    expect(off.stderr).toContain('requires MFA');
  });

  it('a code that is wrong can be given again, three times in all', async () => {
    const owner = await ownerWithMfa(bench.drawbridge);
    const signIn = async (): Promise<Terminal> => {
      const shown = open(`login --email ${owner.email}`, keyless);
      await shown.shows('Password:');
      shown.type(owner.password);
      await shown.shows('recovery code:');
      return shown;
    };
    const refused = await signIn();
    for (const times of [1, 2, 3]) {
      refused.type(owner.wrongCode());
      await refused.shows('The code is wrong', times);
    }
    expect(await refused.shows('ended with 5')).toContain('Fix: drawbridge login, with the next code');
    refused.close();
    const shown = await signIn();
    shown.type(owner.wrongCode());
    await shown.shows('The code is wrong');
    shown.type(owner.recoveryCodes[0]!);
    await shown.shows('Signed in');
  });
});
