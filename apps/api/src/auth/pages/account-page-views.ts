import { HttpStatus } from '@nestjs/common';
import type { AccountTokenHolder } from '#tenant-store';
import { Markup, type BrowserPage } from '../../pages/browser-page';

/** Validation messages by field name. Each follows the field's name in a sentence. */
export type Problems = Readonly<Record<string, string>>;

/** The static texts of a page. */
export interface PageTexts {
  readonly title: string;
  readonly button: string;
  readonly done: string;
  /** what to do when the link is invalid */
  readonly whenUnusable: (sendsMail: boolean) => Markup;
  readonly asksName: boolean;
}

interface FormView {
  readonly texts: PageTexts;
  readonly holder: AccountTokenHolder;
  /** the organization's password policy, as the rest of a sentence */
  readonly policy: string;
  /** as entered */
  readonly name: string;
  readonly problems: Problems;
}

/** For a link that is unknown, used, expired, or of a deleted account. */
export const unusablePage = ({ whenUnusable }: PageTexts, sendsMail: boolean): BrowserPage => ({
  status: HttpStatus.NOT_FOUND,
  title: 'This link does not work any more',
  body: whenUnusable(sendsMail),
});

/** The form for a password, entered twice. A refused password is never sent back. */
export function formPage({ texts, holder, policy, name, problems }: FormView): BrowserPage {
  const nameField = texts.asksName
    ? fieldOf('name', 'Your name', Markup.of`autocomplete="name" value="${name}"`, problems)
    : Markup.of``;
  const hidden = Markup.of`type="password" autocomplete="new-password"`;
  const body = Markup.of`
    <dl>
      <dt>Organization</dt><dd>${holder.organizationName}</dd>
      <dt>E-mail</dt><dd>${holder.email}</dd>
    </dl>
    <form method="post">
      <input name="username" autocomplete="username" value="${holder.email}" hidden>
      ${nameField}
      ${fieldOf('password', 'New password', hidden, problems)}
      ${fieldOf('repeat', 'The same again', hidden, problems)}
      <p class="note">The password ${policy}.</p>
      <button type="submit">${texts.button}</button>
    </form>`;
  const status = Object.keys(problems).length > 0 ? HttpStatus.BAD_REQUEST : HttpStatus.OK;
  return { status, title: texts.title, body };
}

/** Confirms that the password was set. @param commands with which one signs in */
export const donePage = (
  { done }: PageTexts,
  { organizationName, organizationSlug, email }: AccountTokenHolder,
  commands: readonly [string, string],
): BrowserPage => ({
  status: HttpStatus.OK,
  title: done,
  body: Markup.of`
    <p>You can sign in now:</p>
    <dl>
      <dt>Organization</dt><dd>${organizationName}</dd>
      <dt>Its slug</dt><dd><code>${organizationSlug}</code></dd>
      <dt>E-mail</dt><dd>${email}</dd>
    </dl>
    <p>In a terminal, with Node.js:</p>
    <p><code>${commands[0]}</code></p>
    <p><code>${commands[1]}</code></p>`,
});

function fieldOf(name: string, label: string, attributes: Markup, problems: Problems): Markup {
  const problem = problems[name];
  const message = problem === undefined ? Markup.of`` : Markup.of`<p class="problem">It ${problem}.</p>`;
  return Markup.of`<label>${label}<input name="${name}" ${attributes} required></label>${message}`;
}
