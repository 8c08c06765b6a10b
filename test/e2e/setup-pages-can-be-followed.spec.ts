import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { freePort } from '../harness/free-port';
import { neededInCi } from '../harness/needed-in-ci';

const DOCS = resolve(__dirname, '../../docs');

/** The commands of a page: sign in, create the credential, show the set-up, register the trust, verify, create a resource. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands!);
}

const hasJq = neededInCi('jq', spawnSync('jq', ['--version']).status === 0);
if (!hasJq) process.stderr.write('\n*** jq is not on the PATH: the setup pages WERE NOT FOLLOWED ***\n\n');

(hasJq ? describe : describe.skip)('The setup page of', () => {
  let drawbridge: Drawbridge;
  let api: string;
  let token: string;

  beforeAll(async () => {
    const port = String(await freePort());
    const issuer = { OIDC_ISSUER_URL: `http://localhost:${port}/oidc` };
    drawbridge = await Drawbridge.start({ worker: false, api: { PORT: port, ...issuer } });
    api = `http://127.0.0.1:${port}/api/v1`;
    const { admin } = await organization(drawbridge, []);
    if (!admin.identity || !('token' in admin.identity)) throw new Error('The administrator has no token');
    token = admin.identity.token;
  });
  afterAll(() => drawbridge.stop());

  /** Runs commands with the addresses and the token of this test in place of those of `npm start`. */
  const run = async (...commands: string[]): Promise<string> => {
    const script = commands.join('\n').replaceAll(/^(API|SIMULATOR)=.*\n/gm, '');
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      env: {
        PATH: process.env['PATH'],
        API: api,
        TOKEN: token,
        SIMULATOR: drawbridge.cloud.url,
      },
    });
    return stdout;
  };

  const blocksOf = (page: string): [string, string, string, string, string] => {
    const [, ...blocks] = commandsOf(page);
    expect(blocks).toHaveLength(5);
    return blocks as [string, string, string, string, string];
  };

  it.each(['setup-aws.md', 'setup-gcp.md', 'setup-azure.md'])(
    '%s can be followed literally',
    async (page) => {
      const [create, setup, trust, verify, use] = blocksOf(page);
      expect(await run(create, verify)).not.toContain('"isValid": true');
      const [subject, ...commands] = (await run(create, 'echo "$SUBJECT"', setup)).split('\n');
      expect(commands.join('\n')).toContain(subject!);
      const followed = await run(create, trust, verify, use);
      expect(followed).toContain('"isValid": true');
      expect(followed).toContain('"isActive": true');
    },
  );

  it('shows what the API says when the access token has expired', async () => {
    const [create] = blocksOf('setup-aws.md');
    const said = await run('TOKEN=expired', create, 'echo "credential:${CREDENTIAL-none}"').catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    expect(said).toMatch(/access token is invalid or expired[^]*credential:none/);
  });
});
