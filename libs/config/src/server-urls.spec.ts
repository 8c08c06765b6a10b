import {
  certificatesProblem,
  mailSender,
  postgresUrlProblem,
  publicUrlProblem,
  smtpUrlProblem,
  withVerification,
} from './server-urls';

describe('Addresses in settings', () => {
  it.each([
    'postgres://127.0.0.1/drawbridge',
    'postgresql://u:p%2Fw%23@db.example.com:5432/name?sslmode=verify-full',
    'postgres://u:p@ss@host/db',
    'postgres:///db?host=/var/run/postgresql',
  ])('DATABASE_URL may be %s', (url) => expect(postgresUrlProblem(url)).toBeNull());

  it.each([
    ['postgres://u:p@ss/w#rd@host/db', 'percent-encoded'],
    ['postgres://u:p/w@host/db', 'percent-encoded'],
    ['postgres://u:p?w@host/db', 'percent-encoded'],
    ['Server=db.example.com;User Id=u', 'must be the address of a PostgreSQL database'],
    ['postgres://u:p@host/db?sslmode=required', 'sslmode'],
    ['postgres://u:p@host/db?sslmode=verify-full&sslrootcert=/nowhere.pem', 'sslrootcert'],
  ])('DATABASE_URL is refused as %s', (url, why) => expect(postgresUrlProblem(url)).toContain(why));

  it.each(['require', 'prefer', 'verify-ca'])('sslmode=%s verifies, without a warning', (mode) => {
    expect(withVerification(`postgres://h/db?a=b&sslmode=${mode}&c=d`)).toBe(
      'postgres://h/db?a=b&sslmode=verify-full&c=d',
    );
    const compatible = `postgres://h/db?uselibpqcompat=true&sslmode=${mode}`;
    expect(withVerification(compatible)).toBe(compatible);
  });

  it.each(['smtp://user:p%40ss@host:587', 'smtps://host', 'smtp://[::1]:25/?name=mail.example.com'])(
    'SMTP_URL may be %s',
    (url) => expect(smtpUrlProblem(url)).toBeNull(),
  );

  it.each([
    ['smtp://user:pass@host:465', 'smtps://'],
    ['smtps://user:pass@host:587', 'smtp://'],
    ['smtp://u:p@ss/w#r@host', 'percent-encoded'],
    ['mail.example.com', 'must be the mail server'],
    ['smtp://', 'must be the mail server'],
  ])('SMTP_URL is refused as %s', (url, why) => expect(smtpUrlProblem(url)).toContain(why));

  it.each([
    ['door@example.com', '', 'door@example.com'],
    ['Drawbridge <door@example.com>', 'Drawbridge', 'door@example.com'],
    ['"Doors, Bücher & O’Neil" <door@bücher.example>', 'Doors, Bücher & O’Neil', 'door@bücher.example'],
  ])('MAIL_FROM may be %s', (text, name, address) => expect(mailSender(text)).toEqual({ name, address }));

  it.each(['drawbridge', 'a@example.com, b@example.com', 'Door <a@example.com> x', 'a b@example.com', '<>'])(
    'MAIL_FROM is refused as %s',
    (text) => expect(mailSender(text)).toBeNull(),
  );

  it.each(['example.com', 'https://u@example.com', 'https://example.com?a', 'https://example.com/#a'])(
    'PUBLIC_URL is refused as %s',
    (url) => expect(publicUrlProblem(url)).toContain('without user, query and fragment'),
  );

  it.each(['/nowhere.pem', __filename])('NODE_EXTRA_CA_CERTS is refused as %s', (path) =>
    expect(certificatesProblem(path, {})).toContain('PEM'),
  );
});
