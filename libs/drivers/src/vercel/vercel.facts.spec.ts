import { parseGuardedPath, VERCEL_FACTS } from './vercel.facts';

const { identifier, nameTarget } = VERCEL_FACTS.resourceTypes['FIREWALL_RULE']!;
const PROJECT = 'prj_XLKmu1DyR1eY7zq8UgeRKbA7yVLA';
const nameOf = (
  config: Readonly<Record<string, string>> = {},
  project = PROJECT,
): ReturnType<typeof nameTarget> =>
  nameTarget({ identifier: project, config, organization: 'any', hints: { teamId: 'team_x' } });

describe('The target of a Vercel guard', () => {
  it.each([PROJECT, 'prj_simulated1', `Qm${'T'.repeat(44)}`])('accepts the project id %s', (text) => {
    expect(text).toMatch(identifier.pattern);
    expect(parseGuardedPath(nameOf({}, text).identifier)).toEqual({
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
  ])('rejects the project id %j', (text) => {
    expect(text).not.toMatch(identifier.pattern);
    expect(parseGuardedPath(`${text}?host=a.example`)?.projectId).not.toBe(text);
  });

  it('differs by host and path; the host is case-insensitive', () => {
    const hostname = 'admin.example.com';
    const pathPrefix = "/a b&c=d?e#f%/é'";
    const one = nameOf({ hostname, pathPrefix });
    expect(parseGuardedPath(one.identifier)).toEqual({ projectId: PROJECT, hostname, pathPrefix });
    expect(nameOf({ hostname: 'Admin.Example.COM', pathPrefix })).toEqual(one);
    const keys = [
      {},
      { hostname },
      { pathPrefix: '/admin' },
      { hostname, pathPrefix: '/admin' },
      { pathPrefix: '/Admin' },
    ].map((config) => nameOf(config).key);
    expect(new Set(keys).size).toBe(5);
    expect(nameOf({}, PROJECT.toLowerCase()).key).not.toBe(nameOf().key);
  });

  it('is the whole project when the path prefix is /', () => {
    expect(nameOf({ pathPrefix: '/' })).toEqual(nameOf());
  });

  it('is the same for every team', () => {
    expect(nameTarget({ identifier: PROJECT, config: {}, organization: 'any', hints: {} })).toEqual(nameOf());
  });
});
