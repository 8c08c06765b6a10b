import { useNavigate } from '@tanstack/react-router';
import { Loaded, Page, Section } from '../../ui';
import { CredentialForm } from './credential-form';
import { useTypes } from './types';

/** A new credential. Its page says whether it was accepted. */
export function NewCredential() {
  const navigate = useNavigate();
  return (
    <Page title="New credential" lead="With it, Drawbridge changes rules at one of your providers.">
      <Section>
        <Loaded query={useTypes()}>
          {(types) => (
            <CredentialForm
              types={types}
              onDone={({ id }) => void navigate({ to: '/credentials/$id', params: { id } })}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
