import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { totpOf } from '../builders/accounts/accounts';
import { CliBench } from '../builders/programs/cli-bench';
import { CLI } from '../harness/product/command-line';
import { IssuerVisitor } from '../harness/issuers/issuer-visitor';
import { describeInTerminal, Terminal } from '../harness/machines/terminal';
import { containing } from '../harness/matching';
import { until } from '../harness/until';

const DEVELOPER = { person: 'simulated-developer' };
const EMAIL = 'developer@demo.example';

type Form = Readonly<Record<string, string>>;

describeInTerminal('The command line signs in with the company', () => {
  const bench = CliBench.own();
  let slug: string;
  let terminal: Terminal | undefined;
  /** what the desktop was asked to open */
  let opened: string;
  let programs: string;

  beforeAll(async () => {
    const { drawbridge, org, cli } = bench;
    const described = await fetch(`${drawbridge.cloud.url}/_issuer`);
    await org.admin.created('/identity-providers', {
      ...((await described.json()) as object),
      name: 'Company',
      emailDomains: ['demo.example'],
      createUsers: true,
      trustsSecondFactor: true,
    });
    ({ slug } = await org.admin.read<{ slug: string }>('/organization'));
    programs = join(cli.home, 'bin');
    opened = join(cli.home, 'opened');
    mkdirSync(programs);
    writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`);
    chmodSync(join(programs, 'xdg-open'), 0o755);
  });
  afterEach(() => terminal?.close());

  const keyless = { DRAWBRIDGE_API_KEY: '' };

  const open = (command: string, env: Form = {}): Terminal => {
    const { environment } = bench.cli;
    const PATH = `${programs}:${environment['PATH']}`;
    const program = `"${process.execPath}" "${CLI}" ${command}`;
    terminal = new Terminal(program, { ...environment, ...keyless, PATH, ...env }, 400);
    return terminal;
  };

  /** The address that is shown, and what its page sends afterwards. */
  const visited = async (shown: Terminal, form: Form = DEVELOPER): ReturnType<IssuerVisitor['visit']> => {
    const screen = await shown.shows('returnTo=');
    return new IssuerVisitor().visit(/^http\S+/m.exec(screen)![0], form);
  };

  const signedIn = async (shown: Terminal, form: Form = DEVELOPER): Promise<Terminal> => {
    const { url } = await visited(shown, form);
    expect(url.pathname).toBe('/sign-in/sso-code');
    shown.type(new URLSearchParams(url.hash.slice(1)).get('code')!);
    return shown;
  };

  it('opens the browser, and takes what comes back to its port', async () => {
    const shown = open(`login --sso ${slug}`, { DISPLAY: ':0' });
    const address = await until('the browser is opened', () =>
      Promise.resolve(existsSync(opened) && readFileSync(opened, 'utf8')),
    );
    // a page that tries ports
    const port = new URL(address).searchParams.get('returnTo');
    const image = { headers: { 'sec-fetch-dest': 'image' } };
    const tried = await fetch(`http://127.0.0.1:${port}/callback?error=denied&message=Ended`, image);
    expect(tried.status).toBe(404);
    const { url, page } = await new IssuerVisitor().visit(address, DEVELOPER);
    expect([url.origin, page]).toEqual([`http://127.0.0.1:${port}`, containing('Go back to the terminal')]);
    expect(await shown.shows('ended with 0')).toContain(`with ${EMAIL}.`);
    expect((await bench.cli.run('whoami', '', keyless)).stdout).toContain(EMAIL);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('without a display it asks for the code that the page shows, and remembers the organization', async () => {
    await signedIn(open(`login --sso ${slug}`)).then((shown) => shown.shows(`with ${EMAIL}.`));
    await bench.cli.run('logout', '', keyless);
    const again = await signedIn(open('login --sso --no-browser', { DISPLAY: ':0' }));
    expect(await again.shows('ended with 0')).toContain(`with ${EMAIL}.`);
  });

  it('a code of another sign-in is worth nothing', async () => {
    const shown = open(`login --sso ${slug}`);
    await shown.shows('returnTo=code');
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const start = `${bench.proxy.url}/api/v1/auth/sso/${slug}?challenge=${challenge}&returnTo=code`;
    const { url } = await new IssuerVisitor().visit(start, DEVELOPER);
    shown.type(new URLSearchParams(url.hash.slice(1)).get('code')!);
    expect(await shown.shows('ended with 5')).toContain(`Fix: drawbridge login --url`);
  });

  it('says that the issuer ended the sign-in', async () => {
    const shown = open(`login --sso ${slug}`, { DISPLAY: ':0' });
    await visited(shown, { person: '' });
    expect(await shown.shows('ended with 5')).toContain('The identity provider ended the sign-in.');
  });

  it('says which organization has no company sign-in, and what to do without a terminal', async () => {
    const nobody = await bench.cli.run('login --sso nobody', '', keyless);
    expect(nobody).toMatchObject({ code: 2, stderr: containing('"nobody" has no company sign-in') });
    const piped = await bench.cli.run(`login --sso ${slug}`, '', keyless);
    expect(piped).toMatchObject({ code: 2, stderr: containing('Fix: sign in on a terminal: drawbridge') });
  });

  it('asks for the second factor that the issuer did not see, as after a password', async () => {
    const { admin } = bench.org;
    await admin.patched('/organization/settings', { mfaRequired: true });
    await (await signedIn(open(`login --sso ${slug}`), { ...DEVELOPER, secondFactor: 'on' })).shows('with ');
    terminal?.close();
    const setUp = await signedIn(open(`login --sso ${slug}`));
    const [, secret] = /enter the secret there: (\w+)/.exec(await setUp.shows('Its first code:'))!;
    setUp.type(totpOf(secret!).generate());
    const [, recoveryCode] = /Recovery codes[^]*?\n {2}(\S+)/.exec(await setUp.shows(`with ${EMAIL}.`))!;
    setUp.close();
    const asked = await signedIn(open(`login --sso ${slug}`));
    await asked.shows('recovery code:');
    asked.type(recoveryCode!);
    expect(await asked.shows('ended with 0')).toContain(`with ${EMAIL}.`);
  });
});
