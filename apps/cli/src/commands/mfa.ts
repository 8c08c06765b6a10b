// oxlint-disable-next-line import/no-named-as-default -- the function is what CommonJS gets
import qrcode from 'qrcode-generator';
import { bodyOf, visibleLines, type Api } from '#client';
import { SignedIn } from '../profiles/signed-in';
import type { Call } from '../program';
import { ask, askCode, firstLine, requireTerminal } from '../terminal/prompts';

export interface CodeOptions {
  readonly codeStdin?: boolean;
}

const FIRST_CODE = 'Its first code';

/**
 * Sets a second factor up: shows the secret for an authenticator, and asks for its first code. @returns the recovery codes
 * @param fix what is to be done without a terminal
 * @throws CommandFailure without a terminal
 */
export async function setUpFactor(api: Api, fix: string): Promise<string[]> {
  requireTerminal(FIRST_CODE, fix);
  const { secret, otpauthUrl } = await bodyOf(api.POST('/api/v1/mfa/setup', {}));
  const lines = [
    qrLines(otpauthUrl),
    '',
    `Scan it with an authenticator, or enter the secret there: ${secret}`,
  ];
  process.stderr.write(`${visibleLines(lines.join('\n'))}\n`);
  const confirm = (code: string) => bodyOf(api.POST('/api/v1/mfa/setup/confirm', { body: { code } }));
  return (await askCode(FIRST_CODE, fix, confirm)).recoveryCodes;
}

/** Shown once: for the loss of the authenticator. */
export const recoveryText = (recoveryCodes: readonly string[]): string =>
  ['Recovery codes, for a lost authenticator. Each works once; keep them elsewhere:', ...recoveryCodes].join(
    '\n  ',
  );

export async function setUp({ api, connection, output }: Call): Promise<void> {
  const fix = 'without a terminal: drawbridge api POST /mfa/setup, then /mfa/setup/confirm';
  const recoveryCodes = await setUpFactor(api, fix);
  // its access token is as old as the sign-in, which was made without the second factor
  if (connection.credential instanceof SignedIn) await connection.credential.renew();
  output.result({ recoveryCodes }, `The second factor is on.\n${recoveryText(recoveryCodes)}`);
}

export async function turnOff({ api, options, output }: Call<CodeOptions>): Promise<void> {
  await bodyOf(api.POST('/api/v1/mfa/disable', { body: { code: await codeOf(options) } }));
  output.result({ mfaEnabled: false }, 'The second factor is off.');
}

export async function renewRecoveryCodes({ api, options, output }: Call<CodeOptions>): Promise<void> {
  const body = { code: await codeOf(options) };
  const { recoveryCodes } = await bodyOf(api.POST('/api/v1/mfa/recovery-codes/regenerate', { body }));
  output.result({ recoveryCodes }, `${recoveryText(recoveryCodes)}\nThe earlier ones no longer work.`);
}

const codeOf = ({ codeStdin }: CodeOptions): Promise<string> =>
  codeStdin ? firstLine('the code') : ask('Authenticator or recovery code', { fix: 'add --code-stdin' });

/** Two rows of the QR code in each line, dark on the light margin that readers need. */
function qrLines(text: string): string {
  const code = qrcode(0, 'L');
  code.addData(text);
  code.make();
  return code.createASCII(1, 2);
}
