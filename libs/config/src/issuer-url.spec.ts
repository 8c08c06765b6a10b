import { issuerUrlOf, loadSettings, ServiceSettings, SettingsError } from '#config';

const environment = { DATABASE_URL: 'postgres://127.0.0.1/drawbridge' };

const issuerOf = (given: Record<string, string>): string | null =>
  issuerUrlOf(loadSettings(ServiceSettings, { ...environment, ...given }));

const problemsOf = (issuer: string): string[] => {
  try {
    issuerOf({ OIDC_ISSUER_URL: issuer });
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

describe('The issuer’s URL', () => {
  it.each([
    ['https://drawbridge.example.com', 'https://drawbridge.example.com/oidc'],
    ['https://drawbridge.example.com/', 'https://drawbridge.example.com/oidc'],
    ['https://example.com/drawbridge', 'https://example.com/drawbridge/oidc'],
  ])('follows from PUBLIC_URL %s', (url, issuer) => {
    expect(issuerOf({ PUBLIC_URL: url })).toBe(issuer);
  });

  it.each([
    'http://drawbridge.example.com',
    'http://localhost:3000',
    'https://drawbridge.example.com:8443',
    'https://Drawbridge.example.com',
    `https://drawbridge.example.com/${'a'.repeat(200)}`,
  ])('does not follow from PUBLIC_URL %s', (url) => {
    expect(issuerOf({ PUBLIC_URL: url })).toBeNull();
  });

  it('is OIDC_ISSUER_URL where it is set', () => {
    const issuer = 'https://keys.example.com/drawbridge';
    expect(issuerOf({ PUBLIC_URL: 'https://drawbridge.example.com', OIDC_ISSUER_URL: issuer })).toBe(issuer);
    expect(issuerOf({})).toBeNull();
  });

  it.each(['http://localhost:3000/oidc', 'http://127.0.0.1:3000/oidc'])(
    'may be %s, which simulated clouds reach and real ones never do',
    (issuer) => {
      expect(problemsOf(issuer)).toEqual([]);
    },
  );

  it.each([
    'http://drawbridge.example.com/oidc',
    'https://drawbridge.example.com:8443/oidc',
    'https://drawbridge.example.com/oidc/',
    'https://drawbridge.example.com/oidc?a=b',
    'https://drawbridge.example.com/oidc#a',
    'https://user@drawbridge.example.com/oidc',
    'http://localhost.example.com/oidc',
    `https://drawbridge.example.com/${'a'.repeat(200)}`,
  ])('is refused as %s, by the name of the setting', (issuer) => {
    const problems = problemsOf(issuer);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('OIDC_ISSUER_URL');
  });
});
