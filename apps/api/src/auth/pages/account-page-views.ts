import { HttpStatus } from '@nestjs/common';
import type { AccountTokenHolder } from '#tenant-store';
import { Markup, type BrowserPage } from '../../pages/browser-page';

/** A field's name to what is wrong with it, in words that follow the name. */
export type Problems = Readonly<Record<string, string>>;

/** What a page says before anything of its form is filled in. */
export interface PageTexts {
  readonly title: string;
  readonly button: string;
  readonly done: string;
  /** what to do when the link is worth nothing */
  readonly whenUnusable: Markup;
  readonly asksName: boolean;
}

interface FormView {
  readonly words: PageTexts;
  readonly holder: AccountTokenHolder;
  /** what the organization asks of the password, as the rest of a sentence */
  readonly policy: string;
  /** as it was typed */
  readonly name: string;
  readonly problems: Problems;
}

/** A link that was never given out, is used, too old, or of an account that is no more. */
export const unusablePage = ({ whenUnusable }: PageTexts): BrowserPage => ({
  status: HttpStatus.NOT_FOUND,
  title: 'This link does not work any more',
  body: whenUnusable,
});

/** Asks for a password, twice. Nothing of a password that was refused comes back. */
export function formPage({ words, holder, policy, name, problems }: FormView): BrowserPage {
  const nameField = words.asksName
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
      <button type="submit">${words.button}</button>
    </form>`;
  const status = Object.keys(problems).length > 0 ? HttpStatus.BAD_REQUEST : HttpStatus.OK;
  return { status, title: words.title, body };
}

/** The password is set. */
export const donePage = (
  { done }: PageTexts,
  { organizationName, organizationSlug, email }: AccountTokenHolder,
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
    <p class="note">Clients of the API sign in with <code>POST /api/v1/auth/login</code>:
      <code>organizationSlug</code>, <code>email</code> and <code>password</code>.</p>`,
});

function fieldOf(name: string, label: string, attributes: Markup, problems: Problems): Markup {
  const problem = problems[name];
  const told = problem === undefined ? Markup.of`` : Markup.of`<p class="problem">It ${problem}.</p>`;
  return Markup.of`<label>${label}<input name="${name}" ${attributes} required></label>${told}`;
}
