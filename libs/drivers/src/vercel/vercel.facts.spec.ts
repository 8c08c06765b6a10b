import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseGuardedPath, VERCEL_FACTS } from './vercel.facts';

const { identifier, place } = VERCEL_FACTS.resourceTypes['FIREWALL_RULE']!;
const PROJECT = 'prj_XLKmu1DyR1eY7zq8UgeRKbA7yVLA';
const placed = (config: Readonly<Record<string, string>> = {}, project = PROJECT): ReturnType<typeof place> =>
  place({ identifier: project, config, organization: 'any', hints: { teamId: 'team_x' } });

describe('a guarded project', () => {
  it.each([PROJECT, 'prj_simulated1', `Qm${'T'.repeat(44)}`])('may be named %s', (text) => {
    expect(text).toMatch(identifier.pattern);
    expect(parseGuardedPath(placed({}, text).identifier)).toEqual({
      projectId: text,
      hostname: null,
      pathPrefix: null,
    });
  });

  it.each([
    'my-project',
    'prj_',
    'prj_a b',
    'prj_a/../x',
    'prj_a?host=x',
    'prj_a&teamId=x',
    ` ${PROJECT}`,
    `Qm${'T'.repeat(43)}`,
    `prj_${'a'.repeat(101)}`,
    `${PROJECT}\n`,
  ])('may not be named %j', (text) => {
    expect(text).not.toMatch(identifier.pattern);
    expect(parseGuardedPath(`${text}?host=a.example`)?.projectId).not.toBe(text);
  });

  it('is told apart by host and path, a host whatever its case', () => {
    const hostname = 'admin.example.com';
    const pathPrefix = "/a b&c=d?e#f%/é'";
    const one = placed({ hostname, pathPrefix });
    expect(parseGuardedPath(one.identifier)).toEqual({ projectId: PROJECT, hostname, pathPrefix });
    expect(placed({ hostname: 'Admin.Example.COM', pathPrefix })).toEqual(one);
    const keys = [
      {},
      { hostname },
      { pathPrefix: '/admin' },
      { hostname, pathPrefix: '/admin' },
      { pathPrefix: '/Admin' },
    ].map((config) => placed(config).key);
    expect(new Set(keys).size).toBe(5);
    expect(placed({}, PROJECT.toLowerCase()).key).not.toBe(placed().key);
  });

  it('is the whole project when every path is guarded', () => {
    expect(placed({ pathPrefix: '/' })).toEqual(placed());
  });

  it('is one for every team that names it', () => {
    expect(place({ identifier: PROJECT, config: {}, organization: 'any', hints: {} })).toEqual(placed());
  });

  it('has what its token has to be allowed on its page', () => {
    const page = readFileSync(join(__dirname, '../../../../docs/providers/vercel.md'), 'utf8');
    expect(page).toContain(VERCEL_FACTS.policy);
  });
});
