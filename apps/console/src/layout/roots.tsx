import { createRootRoute, createRoute, Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { asFailure, resume } from '../api';
import { ButtonLink, Loading, Page, Problem } from '../ui';
import { useSignIn } from './me';
import { AdministratorsOnly, Alone, Shell } from './shell';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: () => (
    <Alone>
      <Page title="There is no such page" lead="The address may be wrong, or what it named is gone.">
        <ButtonLink to="/">To the start</ButtonLink>
      </Page>
    </Alone>
  ),
  errorComponent: ({ error }) => (
    <Alone>
      <Page title="This screen failed">
        <Problem error={error} retry={() => location.reload()} />
      </Page>
    </Alone>
  ),
});

/** Parent of the screens that need no sign-in. */
export const openRoute = createRoute({ getParentRoute: () => rootRoute, id: 'open', component: Open });

/** Parent of all screens that need a sign-in. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedIn,
});

/** Parent of the screens of administrators. */
export const administratorRoute = createRoute({
  getParentRoute: () => signedInRoute,
  id: 'administrator',
  component: AdministratorsOnly,
});

function Open() {
  if (useSignIn().state === 'unknown') return <Resume />;
  return (
    <Alone>
      <Outlet />
    </Alone>
  );
}

function SignedIn() {
  const signIn = useSignIn();
  if (signIn.state === 'unknown') return <Resume />;
  if (signIn.state === 'out') return <ToSignIn />;
  return signIn.setupRequired ? <Navigate to="/set-up-mfa" replace /> : <Shell />;
}

/** Remembers the screen that was asked for: the address changes while this is still drawn. */
function ToSignIn() {
  const { history } = useRouter();
  const [href] = useState(history.location.href);
  return <Navigate to="/sign-in" search={href === '/' ? {} : { next: href }} replace />;
}

/** Asks whether this browser is signed in. */
function Resume() {
  const [failure, setFailure] = useState<Error | null>(null);
  useEffect(() => {
    resume().catch((error: unknown) => setFailure(asFailure(error)));
  }, []);
  return <Alone>{failure ? <Problem error={failure} retry={() => location.reload()} /> : <Loading />}</Alone>;
}
