import { Link } from '@tanstack/react-router';
import { api, useList } from '../../api';
import { CollectionScreen } from '../../parts/collection';
import { ROLE, stateFilter, type Filter } from '../../parts/filters';
import type { Bulk } from '../../parts/selection';
import { ButtonLink, Empty, TextField } from '../../ui';
import { RESOURCE_COLUMNS } from '../../parts/resource-columns';
import { labelsIn, wordsIn } from '../../parts/labels';
import { useTypes, type Resource } from '../../parts/types';

/** Leads from nothing to the first access. */
export const NOTHING_YET = (
  <Empty title="Nothing is set up yet">
    <Link to="/set-up">Set up access</Link>
  </Empty>
);

const STATES = {
  VERIFIED: 'active',
  REFUSED: 'refused',
  UNVERIFIED: 'not verified yet',
  INACTIVE: 'paused',
  ABANDONED: 'abandoned',
};

const FILTERS: readonly Filter[] = [
  stateFilter(STATES),
  ROLE,
  { name: 'label', label: 'Labels', placeholder: 'env=prod', isMany: true },
];

const BULK: readonly Bulk<Resource>[] = [
  {
    label: 'Verify',
    children: <p>Each provider is asked whether its target can be read and written. The state shows it.</p>,
    act: (resourceIds) => api.POST('/api/v1/resources/verify', { body: { resourceIds } }),
  },
  {
    label: 'Label',
    children: (
      <>
        <p>
          Roles that select by these labels reach the resources, or no longer do, from the next session on.
        </p>
        <TextField name="set" label="Give" required={false} placeholder="env=prod, team=web" />
        <TextField name="remove" label="Take away" required={false} placeholder="env" />
      </>
    ),
    act: (resourceIds, entered) => {
      const body = {
        resourceIds,
        set: labelsIn(entered.text('set')),
        remove: wordsIn(entered.text('remove')),
      };
      return api.POST('/api/v1/resources/labels', { body });
    },
  },
];

/** All resources: what they point at, and whether new sessions may use them. */
export function Resources() {
  const types = useTypes().data ?? [];
  // another one can be chosen in the step before
  const [credential] = useList('/api/v1/credentials', { query: { size: 1 } }).data?.items ?? [];
  const providers = Object.fromEntries(types.map(({ provider, label }) => [provider, label]));
  return (
    <CollectionScreen
      title="Resources"
      lead="What people get access to, for a time: a security group, a firewall, a host."
      create={
        <ButtonLink to="/set-up" search={credential ? { step: 'resource', credential: credential.id } : {}}>
          New resource
        </ButtonLink>
      }
      caption="Resources"
      one="resource"
      path="/api/v1/resources"
      columns={RESOURCE_COLUMNS}
      search="name, identifier, address"
      filters={[...FILTERS, { name: 'provider', label: 'Provider', options: providers }]}
      sort="name"
      bulk={BULK}
      empty={NOTHING_YET}
    />
  );
}
