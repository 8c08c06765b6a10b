import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './layer-violations';

const MODULE = join(ROOT, 'integrations/terraform');
const WANTED = /^go (\d+\.\d+)$/m.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8'))?.[1];

const go = (...args: string[]): string => {
  const { stdout, stderr } = spawnSync('go', args, { cwd: MODULE, encoding: 'utf8' });
  return `${stdout}${stderr}`;
};

/** An older Go fetches the one that is wanted, where it can. Without Go the part `terraform` of .ci/run fails, and no other. */
const hasGo = go('env', 'GOVERSION').startsWith(`go${WANTED}`);

/** Its other tests need a running product: `npm run test:terraform`. */
(hasGo ? describe : describe.skip)('The Terraform provider', () => {
  it('knows every field of the requests that it sends', () => {
    expect(go('test', './internal/api')).toMatch(/^ok\s/m);
  });
});
