import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../layout/roots';
import { ForgotPassword } from './forgot-password';
import { AcceptInvitation, ResetPassword } from './password-link';
import { Register } from './register';
import { RequiredMfaSetup } from './required-mfa-setup';
import { SignInScreen } from './sign-in-screen';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  /** `next`: the screen that was asked for, on this site */
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    typeof next === 'string' && /^\/(?!\/)/.test(next) ? { next } : {},
  component: () => <SignInScreen next={signInRoute.useSearch().next ?? '/'} />,
});

const screen = <Path extends string>(path: Path, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => rootRoute, path, component });

const acceptInvitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/accept-invitation/$token',
  component: () => <AcceptInvitation token={acceptInvitationRoute.useParams().token} />,
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password/$token',
  component: () => <ResetPassword token={resetPasswordRoute.useParams().token} />,
});

export const signInRoutes = [
  signInRoute,
  screen('/register', Register),
  screen('/forgot-password', ForgotPassword),
  screen('/set-up-mfa', RequiredMfaSetup),
  acceptInvitationRoute,
  resetPasswordRoute,
] as const;
