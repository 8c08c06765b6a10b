import { bodyOf, visible } from '#client';
import { usageFailure } from '../exit-codes';
import { profileName } from '../profiles/connection';
import { SignedIn } from '../profiles/signed-in';
import type { Call } from '../program';

const TOKEN_FOR_MS = 300_000;

/** Who asks, by the server's account of it. */
export async function whoami({ api, connection, options, output }: Call): Promise<void> {
  const { url, usesKey } = connection;
  if (usesKey) {
    // no request says whose a key is: this one is accepted for any key that is known
    await bodyOf(api.GET('/api/v1/resources/types', {}));
    const source = process.env['DRAWBRIDGE_API_KEY']
      ? 'DRAWBRIDGE_API_KEY'
      : `profile ${profileName(options)}`;
    output.result({ url, apiKeyFrom: source }, `An API key, from ${source}, at ${url}`);
    return;
  }
  const me = await bodyOf(api.GET('/api/v1/auth/me', {}));
  const roles = me.roleNames.join(', ') || 'none';
  const text = [
    `${me.email}${me.isOrgAdmin ? ', administrator' : ''} of ${me.organization.name} (${me.organization.slug})`,
    `  server         ${url}`,
    `  roles          ${roles}`,
    `  second factor  ${me.mfaEnabled ? 'on' : 'off'}`,
    ...(me.lockdown ? [visible(`  locked down    by ${me.lockdown.declaredBy}: ${me.lockdown.reason}`)] : []),
  ];
  output.result({ url, ...me }, text.join('\n'));
}

export interface TokenOptions {
  readonly force?: boolean;
}

/** Prints an access token alone, with or without a second factor: it comes of the stored sign-in, or of the job's ID token. */
export async function token({ connection, options, output }: Call<TokenOptions>): Promise<void> {
  if (process.stdout.isTTY && !options.force) {
    throw usageFailure(
      'Standard output is a terminal, which would keep the token',
      'export DRAWBRIDGE_ACCESS_TOKEN=$(drawbridge token), or add --force',
    );
  }
  const { credential, usesKey } = connection;
  if (usesKey) {
    throw usageFailure(
      'You use an API key, which is sent as it is and has no access token',
      'send the key in the header X-API-Key, or sign in with: drawbridge login',
    );
  }
  const accessToken =
    credential instanceof SignedIn
      ? await credential.accessToken(TOKEN_FOR_MS)
      : (await credential.headers())['Authorization']!.replace('Bearer ', '');
  output.result({ accessToken }, accessToken);
}
