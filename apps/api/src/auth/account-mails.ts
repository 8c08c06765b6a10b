import { type Mail, plainName as plain } from '#mail';
import type { WaysIn } from './account-links';

/** Content of a mail with a link for setting a password. */
interface AccountMail extends WaysIn {
  readonly to: string;
  readonly organizationName: string;
  readonly organizationSlug: string;
  /** for a person */
  readonly link: string;
  /** for the API */
  readonly token: string;
}

/** Invites a new user to set a first password. */
export const invitationMail = (mail: AccountMail & { name: string; invitedBy: string }): Mail => ({
  to: mail.to,
  subject: `You are invited to ${plain(mail.organizationName)} on Drawbridge`,
  text: `Hello ${plain(mail.name)},

${plain(mail.invitedBy)} invites you to ${organizationOf(mail)} on Drawbridge.
Within 7 days, set your password ${means(mail, 'set-password')}

{"inviteToken": "${mail.token}", "password": "…"}

${signIn(mail)}
`,
});

/** Sends a link for setting a new password. */
export const passwordResetMail = (mail: AccountMail): Mail => ({
  to: mail.to,
  subject: `Set a new Drawbridge password for ${plain(mail.organizationName)}`,
  text: `Hello,

somebody, probably you, asked for a new password for your account at ${organizationOf(mail)}.
Within an hour, set one ${means(mail, 'reset-password')}

{"token": "${mail.token}", "newPassword": "…"}

${signIn(mail)}

If it was not you, ignore this mail: your password stays as it is.
`,
});

const organizationOf = ({ organizationName, organizationSlug }: AccountMail): string =>
  `${plain(organizationName)} (${organizationSlug})`;

/** The link, where a console opens it, and the request that does the same. Its body follows. */
function means({ api, console, link }: AccountMail, call: string): string {
  const request = `with POST ${api}/auth/${call}:`;
  return console === null ? request : `here:\n\n${link}\n\nor ${request}`;
}

const signIn = ({ organizationSlug, to, console, commands }: AccountMail): string =>
  `Then sign in with the organization ${organizationSlug} and the e-mail ${to}, ${console === null ? '' : `at ${console} or `}in a terminal with Node installed:

${commands.join('\n')}`;
