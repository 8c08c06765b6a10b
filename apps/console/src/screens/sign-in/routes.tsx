import { openScreen } from '../../parts/screens';
import { searchOf, text } from '../../parts/search';

/** The screen that was asked for, on this site. Browsers read a backslash as a slash, and ignore tabs and line ends. */
const next = (given: unknown): string | undefined =>
  typeof given === 'string' && /^\/(?![/\\])\S*$/.test(given) ? given : undefined;

const company = () => import('./company');

export const signInRoutes = [
  openScreen('/sign-in', () => import('./sign-in-screen'), 'SignInScreen', searchOf({ next })),
  openScreen('/sign-in/company', company, 'CompanySignIn', searchOf({ next, organization: text })),
  openScreen('/sign-in/sso', company, 'CompanySignInReturn'),
  openScreen('/sign-in/sso-code', company, 'TerminalCode'),
  openScreen('/register', () => import('./sign-in-screen'), 'Register'),
  openScreen('/forgot-password', () => import('./passwords'), 'ForgotPassword'),
  openScreen('/accept-invitation/$token', () => import('./passwords'), 'AcceptInvitation'),
  openScreen('/reset-password/$token', () => import('./passwords'), 'ResetPassword'),
  openScreen('/set-up-mfa', () => import('./mfa-setup'), 'RequiredMfaSetup'),
] as const;
