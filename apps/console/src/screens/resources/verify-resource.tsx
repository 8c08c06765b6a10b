import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { $api, api, live, useAll, type Schemas } from '../../api';
import { Button, Loaded, Loading, Notice, Problem, Section } from '../../ui';
import { Policy } from './credential-form';
import { ResourceForm } from './resource-form';
import { providerOf, sentence, useTypes, type ProviderTypes } from './types';

interface Props {
  readonly id: string;
  /** when there is nothing to say */
  readonly onVerified?: () => void;
  /** the way on, shown when it is verified */
  readonly next: ReactNode;
}

/** Verifies a resource: as soon as it is drawn, and after each change. */
export function VerifyResource(props: Props) {
  const resource = $api.useQuery('get', '/api/v1/resources/{id}', { params: { path: { id: props.id } } });
  return (
    <Loaded query={useTypes()}>
      {(types) => (
        <Loaded query={resource}>{(loaded) => <Verification {...props} of={loaded} types={types} />}</Loaded>
      )}
    </Loaded>
  );
}

interface OfResource {
  readonly of: Schemas['ResourceDto'];
  readonly types: readonly ProviderTypes[];
}

function Verification({ id, of, types, onVerified, next }: Props & OfResource) {
  const provider = providerOf(types, of)!;
  const isConnected = useIsConnected(id, provider.needsAgent);
  // a verification only reads: it may be asked for again
  const check = useQuery({
    queryKey: ['verification', id],
    queryFn: async () =>
      (await api.POST('/api/v1/resources/{id}/verify', { params: { path: { id } } })).data!,
    enabled: isConnected,
    retry: false,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const isFine = check.isSuccess && check.data.warnings.length === 0;
  useEffect(() => {
    if (isFine) onVerified?.();
    // once, when it turns out
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isFine]);
  if (!isConnected) return <AwaitAgent of={of} provider={provider} />;
  if (check.isPending || (check.isFetching && !check.isSuccess))
    return <Loading what={`Asking ${provider.label} about ${of.resourceIdentifier}`} />;
  return (
    <>
      <Section title="Verification">
        {check.isError ? (
          <Refusal error={check.error} provider={provider} again={() => void check.refetch()} />
        ) : (
          <>
            <Notice tone="good" announced>
              {provider.label} knows {of.resourceIdentifier}, and its rules can be read.
            </Notice>
            {check.data.warnings.map((warning) => (
              <Notice key={warning} tone="warn">
                {sentence(warning)}
              </Notice>
            ))}
            {next}
          </>
        )}
      </Section>
      {isFine ? null : <Correct of={of} types={types} />}
    </>
  );
}

/** Whether there is somebody to ask: an agent calls by itself, so one waits for its first report. */
function useIsConnected(id: string, needsAgent: boolean): boolean {
  const guard = $api.useQuery(
    'get',
    '/api/v1/resources/{id}/guard',
    { params: { path: { id } } },
    { enabled: needsAgent, ...live(({ reportedAt }: Schemas['ResourceGuardDto']) => reportedAt === null) },
  );
  return !needsAgent || typeof guard.data?.reportedAt === 'string';
}

const AwaitAgent = ({ of, provider }: Pick<OfResource, 'of'> & { readonly provider: ProviderTypes }) => (
  <Section title="Verification">
    <Notice announced>
      <strong>Waiting for the agent {of.resourceIdentifier} to connect</strong>
      <p>This goes on by itself as soon as it does.</p>
    </Notice>
    <Policy of={provider} open />
    <Link to="/automation">Make the API key of the agent</Link>
  </Section>
);

interface RefusalProps {
  readonly error: unknown;
  readonly provider: ProviderTypes;
  readonly again: () => void;
}

const Refusal = ({ error, provider, again }: RefusalProps) => (
  <>
    <Problem error={error} />
    <p>Allow what is missing at the provider and verify again, or correct what was entered.</p>
    <Policy of={provider} />
    <div>
      <Button onClick={again}>Verify again</Button>
    </div>
  </>
);

function Correct({ of, types }: OfResource) {
  const credentials = useAll('/api/v1/credentials');
  return (
    <Section title="Correct it">
      <Loaded query={credentials}>
        {(all) => <ResourceForm types={types} credentials={all} resource={of} submit="Save and verify" />}
      </Loaded>
    </Section>
  );
}
