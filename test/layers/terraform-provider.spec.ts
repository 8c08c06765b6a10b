import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { hasGo } from '../harness/go';
import { ROOT } from './layer-violations';

/** Its other tests need a running product: `npm run test:terraform`. */
(hasGo ? describe : describe.skip)('The Terraform provider', () => {
  it('knows every field of the requests that it sends', () => {
    const cwd = join(ROOT, 'integrations/terraform');
    const { stdout, stderr } = spawnSync('go', ['test', './internal/api'], { cwd, encoding: 'utf8' });
    expect(stdout + stderr).toMatch(/^ok\s/m);
  });
});
