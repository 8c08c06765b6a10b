import { CollectionScreen } from '../../parts/collection';
import { RESOURCE, statusFilter, TIMES } from '../../parts/filters';
import { sessionsOf } from '../../parts/session-table';
import { STATUS } from '../../parts/sessions';
import { ButtonLink, Empty } from '../../ui';

const FILTERS = [statusFilter(STATUS), { ...RESOURCE, query: { assigned: true } }, ...TIMES];

/** One's own sessions. */
export const History = () => (
  <CollectionScreen
    title="History"
    lead="Your sessions, newest first."
    caption="Your sessions"
    path="/api/v1/sessions"
    filters={FILTERS}
    {...sessionsOf('own')}
    empty={
      <Empty title="No sessions">
        <ButtonLink to="/">Let me in</ButtonLink>
      </Empty>
    }
  />
);
