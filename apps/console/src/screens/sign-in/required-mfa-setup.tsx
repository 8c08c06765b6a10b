import { Navigate } from '@tanstack/react-router';
import { finishSetup, signOut } from '../../api';
import { Resume } from '../../layout/roots';
import { useSignIn } from '../../layout/me';
import { Alone } from '../../layout/shell';
import { Action, Page } from '../../ui';
import { MfaSetup } from './mfa-setup';

/** The organization requires a second factor before anything else. */
export function RequiredMfaSetup() {
  const signIn = useSignIn();
  if (signIn.state === 'unknown') return <Resume />;
  if (signIn.state === 'out') return <Navigate to="/sign-in" replace />;
  if (!signIn.setupRequired) return <Navigate to="/" replace />;
  return (
    <Alone>
      <Page title="Set up a second factor" lead="Your organization requires one.">
        <MfaSetup onDone={() => void finishSetup()} />
        <Action kind="plain" label="Sign out" act={() => signOut()} />
      </Page>
    </Alone>
  );
}
