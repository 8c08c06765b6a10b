import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { $api, api } from '../../api';
import { providerOf, resourceTypeOf, type ProviderTypes, type Resource } from '../../parts/types';
import { Button, Code, Loaded, Loading, Notice, Problem, Section } from '../../ui';
import { Policy } from './credential';
import { ResourceForm, Warnings } from './resource-form';

interface VerifyResourceProps {
  readonly types: readonly ProviderTypes[];
  readonly onVerified: () => void;
}

/** Verifies a resource: as soon as it is drawn, and after each change. */
export function VerifyResource({ id, ...props }: VerifyResourceProps & { id: string }) {
  const resource = $api.useQuery('get', '/api/v1/resources/{id}', { params: { path: { id } } });
  return <Loaded query={resource}>{(of) => <Verification {...props} of={of} />}</Loaded>;
}

function Verification({ of, types, onVerified }: VerifyResourceProps & { of: Resource }) {
  const { id, resourceIdentifier } = of;
  const params = { path: { id } };
  const provider = providerOf(types, of);
  // an agent calls by itself: one waits for its first report
  const guard = $api.useQuery(
    'get',
    '/api/v1/resources/{id}/guard',
    { params },
    { enabled: provider.needsAgent, refetchInterval: 2_000 },
  );
  const isConnected = !provider.needsAgent || typeof guard.data?.reportedAt === 'string';
  // a verification only reads: it may be asked for again
  const check = useQuery({
    queryKey: ['verification', id],
    queryFn: async () => (await api.POST('/api/v1/resources/{id}/verify', { params })).data!,
    enabled: isConnected,
    retry: false,
    refetchInterval: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const isFine = check.isSuccess && check.data.warnings.length === 0;
  useEffect(() => {
    if (isFine) onVerified();
    // once, when it turns out
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isFine]);
  if (!isConnected)
    return (
      <Section title="Verification">
        <Notice announced>
          <strong>
            Waiting for the agent <Code>{resourceIdentifier}</Code> to connect
          </strong>
          <p>This goes on by itself as soon as it does.</p>
        </Notice>
        <Policy of={provider} open />
        <Link to="/automation">Make the API key of the agent</Link>
      </Section>
    );
  if (check.isPending || isFine) return <Loading what={`Asking ${provider.label}`} />;
  return (
    <Section title="Verification">
      {check.isError ? (
        <>
          <Problem error={check.error} />
          <p>
            Allow what is missing at the provider, or correct what was entered; then save: it is verified
            again.
          </p>
          <Policy of={provider} text={resourceTypeOf(types, of).policy} />
        </>
      ) : (
        <>
          <Warnings of={check.data.warnings} />
          <div>
            <Button kind="primary" onClick={onVerified}>
              Continue
            </Button>
          </div>
        </>
      )}
      <ResourceForm types={types} of={{ resource: of }} />
    </Section>
  );
}
