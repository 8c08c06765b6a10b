import type { Addresses } from './child-environment';
import type { DemoAccess } from './demo-organization';

/**
 * What to do next, as lines for a terminal.
 * @param mailLog the file that mail is written into; null where it really goes out
 */
export function banner(
  { publicUrl, simulatorPort }: Addresses,
  demo: DemoAccess | null,
  mailLog: string | null,
): string {
  const places = [
    `  API            ${publicUrl}/api/v1`,
    `  Documentation  ${publicUrl}/docs`,
    ...(simulatorPort === null ? [] : [`  Clouds         http://localhost:${simulatorPort}/   (simulated)`]),
    ...(mailLog === null ? [] : [`  Mail           ${mailLog}   (SMTP_URL is not set)`]),
    ...(demo ? [`  Sign in        ${demo.email}   ${demo.password}`] : []),
  ];
  return [
    '',
    ...places,
    '',
    ...(demo ? firstSession(publicUrl, demo.apiKey) : registration(publicUrl)),
    '',
  ].join('\n');
}

function firstSession(publicUrl: string, apiKey: string): string[] {
  const sessions = `${publicUrl}/api/v1/sessions`;
  const key = `-H 'X-API-Key: ${apiKey}'`;
  const newest = `$(curl -sS ${key} '${sessions}?active=true&size=1' | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`;
  const asked = JSON.stringify({ ipv4Address: '203.0.113.10', durationHours: 1 });
  return [
    'Let an address in:',
    '',
    `curl -sS -X POST ${sessions} ${key} -H 'Content-Type: application/json' -d '${asked}'`,
    '',
    'Stop the newest session:',
    '',
    `curl -sS -X POST ${key} "${sessions}/${newest}/stop"`,
  ];
}

function registration(publicUrl: string): string[] {
  const asked = { organizationName: 'Example Ltd', email: 'you@example.com', password: 'choose-a-long-one' };
  return [
    'Register your organization:',
    '',
    `curl -sS -X POST ${publicUrl}/api/v1/auth/register -H 'Content-Type: application/json' -d '${JSON.stringify(asked)}'`,
  ];
}
