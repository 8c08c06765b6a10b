import type { Addresses } from './child-environment';
import type { DemoAccess } from './demo-organization';

interface Started {
  readonly demo: DemoAccess | null;
  /** the file that mail is written to; null when a mail server is configured */
  readonly mailLog: string | null;
  readonly hasConsole: boolean;
  /** registration is closed */
  readonly isClosed: boolean;
}

/** The addresses and first commands, as lines for a terminal. */
export function banner(
  { publicUrl, simulatorPort }: Addresses,
  { demo, mailLog, hasConsole, isClosed }: Started,
): string {
  const addresses = [
    ...(hasConsole ? [`  Console        ${consoleUrl(publicUrl, demo)}`] : []),
    `  API            ${publicUrl}/api/v1`,
    `  Documentation  ${publicUrl}/docs`,
    ...(simulatorPort === null ? [] : [`  Clouds         http://localhost:${simulatorPort}/   (simulated)`]),
    `  Mail           ${mailLog === null ? 'sent through SMTP_URL' : `links of invitations are in ${mailLog}; notices need SMTP_URL`}`,
    ...(demo ? [`  Sign in        ${demo.email}   ${demo.password}`] : []),
    ...(hasConsole && demo?.slug && isTrusted(publicUrl)
      ? [`  Company        ${companyUrl(publicUrl, demo.slug)}   (simulated)`]
      : []),
  ];
  return [
    '',
    ...addresses,
    '',
    ...(demo
      ? [...firstSession(publicUrl, demo.apiKey), '', ...signIn(publicUrl, demo.email)]
      : isClosed
        ? creation(publicUrl)
        : registration(publicUrl)),
    '',
  ].join('\n');
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** The console takes the link that signs in on this machine only: elsewhere, its address is what helps. */
const isLocal = (publicUrl: string): boolean => LOOPBACK.test(new URL(publicUrl).hostname);

/** Browsers sign in with a company here: on this machine, or with https. */
const isTrusted = (publicUrl: string): boolean => publicUrl.startsWith('https:') || isLocal(publicUrl);

/** With the demo, a link that signs in, once. A browser keeps what is behind the # to itself. */
const consoleUrl = (publicUrl: string, demo: DemoAccess | null): string =>
  demo?.refreshToken && isLocal(publicUrl)
    ? `${publicUrl}/sign-in#refreshToken=${demo.refreshToken}`
    : `${publicUrl}/`;

/** Where people sign in with the simulated identity provider. */
const companyUrl = (publicUrl: string, slug: string): string =>
  `${publicUrl}/sign-in/company?organization=${slug}`;

function firstSession(publicUrl: string, apiKey: string): string[] {
  const sessions = `${publicUrl}/api/v1/sessions`;
  const key = `-H 'X-API-Key: ${apiKey}'`;
  const newest = `curl -sS ${key} '${sessions}?active=true&size=1' | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4`;
  const body = JSON.stringify({ ipv4Address: '203.0.113.10', durationHours: 1 });
  return [
    'Start a session for an address:',
    '',
    `curl -sS -X POST ${sessions} ${key} -H 'Content-Type: application/json' -d '${body}'`,
    '',
    'Stop the newest session:',
    '',
    // without a session, xargs runs nothing; it replaces {} in every argument, and no key has a brace
    `${newest} | xargs -I {} curl -sS -X POST ${key} ${sessions}/{}/stop`,
  ];
}

/** The command line comes from this server. */
function signIn(publicUrl: string, email: string): string[] {
  const download = `curl -fsSLo drawbridge ${publicUrl}/downloads/drawbridge.mjs && chmod +x drawbridge`;
  return [
    'Or sign in with the command line:',
    `${download} && ./drawbridge login --url ${publicUrl} --email ${email}`,
  ];
}

const creation = (publicUrl: string): string[] => [
  'Create an organization:',
  '',
  `npm run admin -- create-organization --name 'Example Ltd' --email you@example.com --url ${publicUrl}`,
];

function registration(publicUrl: string): string[] {
  const body = { organizationName: 'Example Ltd', email: 'you@example.com', password: 'choose-a-long-one' };
  return [
    'Register your organization:',
    '',
    `curl -sS -X POST ${publicUrl}/api/v1/auth/register -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
  ];
}
