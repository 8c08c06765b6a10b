import { nameColumn, timeColumn } from './collection';
import { labelsText } from './labels';
import { providerOf, resourceTypeOf, useTypes, type Resource } from './types';
import { Lines } from './words';
import { Badge, Code, Muted, type Column } from '../ui';

/** Whether new sessions may use a resource, and if not, why. */
export function ResourceBadge({ of }: { of: Resource }) {
  if (of.isActive) return <Badge tone="good">active</Badge>;
  if (of.verificationError !== null) return <Badge tone="bad">refused</Badge>;
  return of.lastVerifiedAt === null ? <Badge tone="warn">not verified yet</Badge> : <Badge>paused</Badge>;
}

/** Of which provider, once that is known. */
const ProviderLabel = ({ of }: { of: Resource }) => {
  const { data } = useTypes();
  return data ? providerOf(data, of).label : of.provider;
};

/** What kind of target, and where. */
const TypeLabel = ({ of }: { of: Resource }) => {
  const { data } = useTypes();
  const where = [data && resourceTypeOf(data, of).label, of.accountLabel ?? of.account, of.region];
  return <Muted>{where.filter(Boolean).join(', ')}</Muted>;
};

const NAME = nameColumn<Resource>('/resources/$id');

export const RESOURCE_COLUMNS: readonly Column<Resource>[] = [
  {
    ...NAME,
    cell: (each) => (
      <Lines>
        {NAME.cell(each)}
        {labelsText(each) ? <Muted>{labelsText(each)}</Muted> : null}
      </Lines>
    ),
  },
  { head: 'Provider', cell: (each) => <ProviderLabel of={each} /> },
  {
    head: 'Target',
    cell: (each) => (
      <Lines>
        <Code>{each.resourceIdentifier}</Code>
        <TypeLabel of={each} />
      </Lines>
    ),
  },
  { head: 'State', sort: 'state', cell: (each) => <ResourceBadge of={each} /> },
  timeColumn('Verified', 'lastVerifiedAt'),
];
