import type { Mail } from '../mail/mailer';

/** Where a mail's reader sets a password, and whose organization it is. */
interface AccountMail {
  readonly to: string;
  readonly organizationName: string;
  readonly organizationSlug: string;
  /** of the page */
  readonly link: string;
  /** what the API takes in place of the page */
  readonly token: string;
}

/** Invites somebody to set a first password. */
export const invitationMail = (mail: AccountMail & { name: string; invitedBy: string }): Mail => ({
  to: mail.to,
  subject: `You are invited to ${plain(mail.organizationName)} on Drawbridge`,
  text: `Hello ${plain(mail.name)},

${plain(mail.invitedBy)} invites you to ${organizationOf(mail)} on Drawbridge.
Within 7 days, set your password here:

${mail.link}

or with POST /api/v1/auth/set-password:

{"inviteToken": "${mail.token}", "password": "…"}

${signIn(mail)}
`,
});

/** Lets somebody who forgot a password set another. */
export const passwordResetMail = (mail: AccountMail): Mail => ({
  to: mail.to,
  subject: `Set a new Drawbridge password for ${plain(mail.organizationName)}`,
  text: `Hello,

somebody, probably you, asked for a new password for your account at ${organizationOf(mail)}.
Within an hour, set one here:

${mail.link}

or with POST /api/v1/auth/reset-password:

{"token": "${mail.token}", "newPassword": "…"}

${signIn(mail)}

If it was not you, ignore this mail: your password stays as it is.
`,
});

const organizationOf = ({ organizationName, organizationSlug }: AccountMail): string =>
  `${plain(organizationName)} (${organizationSlug})`;

const signIn = ({ organizationSlug, to }: AccountMail): string =>
  `Then sign in with the organization ${organizationSlug} and the e-mail ${to}.`;

const MAX_NAME_LENGTH = 64;
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
/** a dot before something else than a blank, in the scripts in which programs take it for one of an address */
const INNER_DOT = /([.\u3002\uFF0E\uFF61])(?=\S)/g;

/**
 * A name, which anybody may choose, as it stands in a mail: one line, short, and nothing in it that a mail program makes
 * a link of. Names themselves may look like addresses, as "Example.com" does.
 */
function plain(name: string): string {
  const line = name.replaceAll(/\s+/g, ' ').replaceAll(BIDI_CONTROLS, '').replaceAll('://', ' ');
  const characters = Array.from(line.replaceAll(INNER_DOT, '$1 '));
  return characters.length > MAX_NAME_LENGTH
    ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…`
    : characters.join('');
}
