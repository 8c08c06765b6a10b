import { openScreen } from '../../parts/screens';
import { searchOf } from '../../parts/search';

/** The screen that was asked for, on this site. */
const next = (given: unknown): string | undefined =>
  typeof given === 'string' && /^\/(?!\/)/.test(given) ? given : undefined;

export const signInRoutes = [
  openScreen('/sign-in', () => import('./sign-in-screen'), 'SignInScreen', searchOf({ next })),
  openScreen('/register', () => import('./sign-in-screen'), 'Register'),
  openScreen('/forgot-password', () => import('./passwords'), 'ForgotPassword'),
  openScreen('/accept-invitation/$token', () => import('./passwords'), 'AcceptInvitation'),
  openScreen('/reset-password/$token', () => import('./passwords'), 'ResetPassword'),
  openScreen('/set-up-mfa', () => import('./mfa-setup'), 'RequiredMfaSetup'),
] as const;
