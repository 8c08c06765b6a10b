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
  subject: `You are invited to ${oneLine(mail.organizationName)} on Drawbridge`,
  text: `Hello ${oneLine(mail.name)},

${oneLine(mail.invitedBy)} invites you to ${organizationOf(mail)} on Drawbridge.
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
  subject: `Set a new Drawbridge password for ${oneLine(mail.organizationName)}`,
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
  `${oneLine(organizationName)} (${organizationSlug})`;

const signIn = ({ organizationSlug, to }: AccountMail): string =>
  `Then sign in with the organization ${organizationSlug} and the e-mail ${to}.`;

// a name that brought lines of its own could pass for other parts of the mail
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');
