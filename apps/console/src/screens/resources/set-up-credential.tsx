import { $api, useAll, type Schemas } from '../../api';
import { ButtonLink, Loaded, Section } from '../../ui';
import { CredentialDetails } from './credential-details';
import { CredentialForm } from './credential-form';
import type { SetUpSearch } from './set-up-steps';
import type { ProviderTypes } from './types';
import { UseExisting } from './use-existing';

interface Props {
  readonly types: readonly ProviderTypes[];
  readonly id: string | undefined;
  readonly go: (to: SetUpSearch, replace?: boolean) => void;
}

/** A new credential, or one that is there; then, unless it was accepted at once, what is missing. */
export function CredentialStep({ types, id, go }: Props) {
  const credentials = useAll('/api/v1/credentials');
  const onward = (chosen: Schemas['CredentialDto']): void =>
    go({ step: chosen.isValid ? 'resource' : 'credential', credential: chosen.id });
  if (id !== undefined)
    return <Check types={types} id={id} onValid={() => go({ step: 'resource', credential: id }, true)} />;
  return (
    <Loaded query={credentials}>
      {(all) => (
        <>
          <UseExisting what="credential" items={all} onUse={onward} />
          <Section title="New credential">
            <p>With it, Drawbridge adds and removes rules. It is encrypted and never shown again.</p>
            <CredentialForm types={types} onDone={onward} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

interface CheckProps {
  readonly types: readonly ProviderTypes[];
  readonly id: string;
  readonly onValid: () => void;
}

function Check({ types, id, onValid }: CheckProps) {
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  return (
    <Loaded query={credential}>
      {(of) => (
        <CredentialDetails of={of} types={types} onValid={onValid}>
          <ButtonLink
            to="/set-up"
            search={{ step: 'resource', credential: id }}
            kind={of.isValid ? 'primary' : 'plain'}
          >
            {of.isValid ? 'Continue' : 'Continue anyway'}
          </ButtonLink>
        </CredentialDetails>
      )}
    </Loaded>
  );
}
