import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountOwner, ownerWithMfa, totpOf } from '../builders/accounts/accounts';
import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import { PASSWORD } from '../builders/accounts/people';
import { CLI } from '../harness/product/command-line';
import { hasTerminals, Terminal } from '../harness/machines/terminal';

/** Says whether it has a terminal, and how often Ctrl-C has reached it half a second after the first time. */
const COUNTING = `let count = 0;
process.on('SIGINT', () => { count += 1; if (count === 1) setTimeout(() => { console.log('interrupts ' + count); process.exit(3); }, 500); });
setInterval(() => {}, 1000);
console.log('terminal ' + [process.stdin, process.stdout, process.stderr].every((stream) => stream.isTTY));`;

if (!hasTerminals) {
  process.stderr.write(
    `${'!'.repeat(78)}\n!! tmux is not installed: the tests of the command line in a terminal did NOT run.\n!! Install it: apt-get install tmux\n${'!'.repeat(78)}\n`,
  );
}

(hasTerminals ? describe : describe.skip)('The command line in a terminal', () => {
  let bench: CliBench;
  let terminal: Terminal | undefined;
  let counting: string;

  beforeAll(async () => {
    bench = await CliBench.start();
    counting = join(bench.cli.home, 'counting.cjs');
    writeFileSync(counting, COUNTING);
  });
  afterAll(() => bench.stop());
  afterEach(async () => {
    terminal?.close();
    await bench.allows();
  });

  const open = (command: string, env: Readonly<Record<string, string>> = {}, columns = 200): Terminal => {
    terminal = new Terminal(
      `"${process.execPath}" "${CLI}" ${command}`,
      {
        ...bench.cli.environment,
        TERM: 'screen',
        ...env,
      },
      columns,
    );
    return terminal;
  };

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
    const started = await bench.cli.json<{ id: string }>(['start']);
    const screen = await open('list', {}, 44).shows('ended with 0');
    await bench.cli.run(['stop']);
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
    const { admin } = bench.org;
    const account = { email: 'ada@example.com', password: PASSWORD };
    await admin.created('/users', account);
    const shown = open('login', { DRAWBRIDGE_API_KEY: '' });
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
    const piped = await bench.cli.run(
      ['login', '--email', owner.email, '--password-stdin'],
      `${owner.password}\n`,
      { DRAWBRIDGE_API_KEY: '' },
    );
    expect(piped.stderr).toContain('Fix: sign in on a terminal: drawbridge login --url http');
    const shown = open(`login --email ${owner.email}`, { DRAWBRIDGE_API_KEY: '' });
    await shown.shows('Password:');
    shown.type(owner.password);
    const [, secret] = /enter the secret there: (\w+)/.exec(await shown.shows('Its first code:'))!;
    shown.type('000000');
    await shown.shows('The code is wrong');
    shown.type(totpOf(secret!).generate());
    expect(await shown.shows('Signed in')).toMatch(/Recovery codes[^]*\n {2}\w{4}-\w{4}-/);
    const signedIn = { DRAWBRIDGE_API_KEY: '' };
    expect((await bench.cli.run(['whoami'], '', signedIn)).stdout).toContain('second factor  on');
    const off = await bench.cli.run(['mfa', 'off', '--code-stdin'], '000000\n', signedIn);
    expect(off.stderr).toContain('requires MFA');
  });

  it('a code that is wrong can be given again, three times in all', async () => {
    const owner = await ownerWithMfa(bench.drawbridge);
    const signIn = async (): Promise<Terminal> => {
      const shown = open(`login --email ${owner.email}`, { DRAWBRIDGE_API_KEY: '' });
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
