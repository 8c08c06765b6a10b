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

/** Invites a new user to set a first password. @param mail `invitedBy`: with an address only where it is known to be theirs */
export const invitationMail = (mail: AccountMail & { name: string; invitedBy: Inviter }): Mail => ({
  to: mail.to,
  subject: `${plain(mail.invitedBy.name)} invites you to ${plain(mail.organizationName)} on Drawbridge`,
  text: `Hello ${plain(mail.name)},

${inviterOf(mail)} invites you to ${organizationOf(mail)} on Drawbridge, which opens network access for you while you need it, and closes it afterwards.

${request(mail, 'To accept, set a password, within 7 days', 'set-password', '"inviteToken": TOKEN, "password": "…"')}

${signIn(mail)}

If you do not know who invites you, ignore this mail: without a password there is no account.
`,
});

/** Sends a link for setting a new password. */
export const passwordResetMail = (mail: AccountMail): Mail => ({
  to: mail.to,
  subject: `Set a new Drawbridge password for ${plain(mail.organizationName)}`,
  text: `Hello,

a new password was requested, probably by you, for your account at ${organizationOf(mail)}.

${request(mail, 'To set one, within an hour', 'reset-password', '"token": TOKEN, "newPassword": "…"')}

${signIn(mail)}

If it was not you, ignore this mail: your password stays as it is.
`,
});

interface Inviter {
  readonly name: string;
  readonly email: string | null;
}

const inviterOf = ({ invitedBy: { name, email } }: { readonly invitedBy: Inviter }): string =>
  email === null ? plain(name) : `${plain(name)} (${email})`;

const organizationOf = ({ organizationName, organizationSlug }: AccountMail): string =>
  `${plain(organizationName)} (${organizationSlug})`;

/** The link, or where no console opens it, the request that does the same. */
const request = (
  { api, console, link, token }: AccountMail,
  what: string,
  call: string,
  body: string,
): string =>
  console === null
    ? `${what}, with POST ${api}/auth/${call}:\n\n{${body.replace('TOKEN', `"${token}"`)}}`
    : `${what}:\n\n${link}`;

function signIn({ organizationSlug, to, console, commands }: AccountMail): string {
  const account = `with the organization ${organizationSlug} and the e-mail ${to}`;
  return console === null
    ? `Afterwards you sign in ${account}, in a terminal with Node.js:\n\n${commands.join('\n')}`
    : `Afterwards you sign in at ${console}, ${account}.`;
}
