import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { freePort } from '../harness/free-port';

const DOCS = resolve(__dirname, '../../docs');

/** The commands of a page, in three parts: create the credential, verify it, register the trust in the simulated cloud. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands!);
}

describe('The setup page of', () => {
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

  const run = async (...commands: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      env: {
        PATH: process.env['PATH'],
        API: api,
        TOKEN: token,
        SIMULATOR: drawbridge.cloud.url,
      },
    });
    return stdout;
  };

  it.each(['setup-aws.md', 'setup-gcp.md', 'setup-azure.md'])(
    '%s can be followed literally',
    async (page) => {
      const [create, verify, trust] = commandsOf(page) as [string, string, string];
      expect(JSON.parse(await run(create, verify))).not.toMatchObject({ isValid: true });
      const [, answer] = (await run(create, trust, 'echo', verify)).split('\n');
      expect(JSON.parse(answer!)).toMatchObject({ isValid: true });
    },
  );
});
