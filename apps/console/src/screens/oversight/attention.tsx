import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { CollectionScreen } from '../../parts/collection';
import { Lines, Reason, sentence } from '../../parts/words';
import { Badge, Empty, Muted, Time, type Column } from '../../ui';

type Item = Schemas['AttentionDto'];

const KINDS: Readonly<Record<Item['kind'], string>> = {
  RULE_OVERDUE: 'Access is not closed in time',
  RESOURCE_REFUSED: 'The resource does not work',
  TARGET_FULL: 'There is hardly room for more rules',
  RULE_REFUSED: 'A static IP rule is not applied',
  CREDENTIAL_FAILING: 'The credential is refused',
  AGENT_AWAY: 'The agent is away',
  AGENT_CONTESTED: 'Two agents have one name',
  IDENTITY_PROVIDER_FAILING: 'Company sign-in does not work',
  WEBHOOK_FAILING: 'The webhook does not arrive',
  LOCKED_DOWN: 'Locked down',
  ORGANIZATION_LOCKED_DOWN: 'Everybody is locked down',
  BREAK_GLASS_UNREVIEWED: 'Opened without approval, not reviewed',
  IDENTITY_WAITING: 'People wait to be linked',
  KEY_ENDING: 'The API key ends soon',
  STATIC_RULE_ENDING: 'The static IP rule ends soon',
  REVIEW_DUE: 'Rights are to be confirmed again',
  ONE_ADMINISTRATOR: 'There is one administrator',
};

/** Where each type of object is shown. */
const PAGES = {
  RESOURCE: '/resources/$id',
  STATIC_IP_RULE: '/static-rules/$id',
  CREDENTIAL: '/credentials/$id',
  IDENTITY_PROVIDER: '/organization/providers/$id',
  WEBHOOK: '/webhooks/$id',
  USER: '/people/$id',
  ACCESS_REQUEST: '/requests/$id',
  API_KEY: '/automation',
  ORGANIZATION: '/open',
  REVIEW: '/reviews',
} as const;

const COLUMNS: readonly Column<Item>[] = [
  {
    head: 'What',
    cell: ({ kind, severity, message, action }) => (
      <Lines>
        <Badge tone={severity === 'NOW' ? 'bad' : 'warn'}>{KINDS[kind]}</Badge>
        {message === null ? null : <Reason isBad={severity === 'NOW'}>{sentence(message)}</Reason>}
        <Muted>{action}</Muted>
      </Lines>
    ),
  },
  { head: 'Where', cell: (item) => <Where of={item} /> },
  {
    head: 'Since',
    cell: ({ since }) => (since === null ? <Muted>not recorded</Muted> : <Time at={since} />),
  },
];

const Where = ({ of: { objectType, objectId, objectName } }: { of: Item }) => {
  const page = PAGES[objectType as keyof typeof PAGES] as (typeof PAGES)['RESOURCE'];
  return (
    <Link to={page} params={{ id: objectId }}>
      {objectType === 'REVIEW' ? 'Reviews' : objectName}
    </Link>
  );
};

/** What is not as it should be, worst first. */
export const Attention = () => (
  <CollectionScreen
    title="Needs attention"
    lead="What is not as it should be, worst first. Each goes from here when its cause is gone."
    caption="What needs attention"
    path="/api/v1/attention"
    columns={COLUMNS}
    empty={<Empty title="All is as it should be" />}
  />
);
