import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, refresh, signOut } from '../../api';
import { useSignIn } from '../../layout/me';
import { Action, CodeField, CopiedButton, Copyable, Form, Loaded, Notice, Page, Stack } from '../../ui';
import styles from './mfa-setup.module.css';

/** The organization requires a second factor before anything else. */
export function RequiredMfaSetup() {
  const signIn = useSignIn();
  if (signIn.state !== 'in' || !signIn.setupRequired) return <Navigate to="/" replace />;
  return (
    <Page title="Set up a second factor" lead="Your organization requires one.">
      {/* the next access token opens everything */}
      <MfaSetup onDone={() => void refresh()} />
      <Action kind="plain" label="Sign out" act={() => signOut()} />
    </Page>
  );
}

/** Sets up the second factor: the QR code, its first code, and the recovery codes. @param onDone the codes were put away */
export function MfaSetup({ onDone }: { readonly onDone: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  // each request makes a new secret, and only the newest counts
  const setup = useQuery({
    queryKey: ['mfa-setup'],
    queryFn: async () => (await api.POST('/api/v1/mfa/setup')).data!,
    // also after a wrong code, which re-reads everything else
    staleTime: 'static',
    gcTime: 0,
    refetchInterval: false,
  });
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  return (
    <Loaded query={setup}>
      {({ qrCodeBase64, secret }) => (
        <Stack>
          <p>Scan this with an authenticator on your phone, then enter the six digits that it shows.</p>
          <img
            className={styles['code']}
            src={`data:image/png;base64,${qrCodeBase64}`}
            alt="QR code of the secret below"
          />
          <details>
            <summary>No camera? Type the secret</summary>
            <Copyable text={secret} label="Secret" />
          </details>
          <Form
            submit="Turn on the second factor"
            send={(entered) =>
              api.POST('/api/v1/mfa/setup/confirm', { body: { code: entered.code('code') } })
            }
            onDone={({ data }) => setCodes(data!.recoveryCodes)}
          >
            <CodeField inputMode="numeric" autoFocus />
          </Form>
        </Stack>
      )}
    </Loaded>
  );
}

/** Shown once. */
export const RecoveryCodes = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => (
  <Stack>
    <Notice tone="warn">
      Keep these recovery codes where you keep passwords. Each signs you in once without the authenticator.
      They are shown only now.
    </Notice>
    <Copyable text={codes.join('\n')} label="Recovery codes" />
    <CopiedButton label="I have put them away" onCopied={onDone} />
  </Stack>
);
