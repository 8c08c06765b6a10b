import type { Schemas } from '../../api';
import { Action, Notice, Stack } from '../../ui';
import { ownAddressFields } from './own-addresses';
import { MAX_NAMED, start } from './start';
import { addressesOf, resourcesOf, type Session } from '../../parts/sessions';

interface MovedProps {
  readonly me: Schemas['MeDto'];
  readonly session: Session;
  readonly onMoved: (id: string) => void;
}

/** A session of this person lets in where it was before: it can follow, and keeps its end. */
export function Moved({ me, session, onMoved }: MovedProps) {
  return (
    <Notice tone="warn">
      <Stack>
        <p>
          <strong>Moved?</strong> Your session lets in {addressesOf(session).join(' and ')}. It can let in
          where you are now instead, until the same time.
        </p>
        <div>
          <Action
            label="Let me in here"
            kind="primary"
            large
            busy="Opening…"
            act={async () => {
              const ids = resourcesOf(session).map(({ id }) => id);
              const body = {
                replaces: session.id,
                ...(ids.length > MAX_NAMED ? {} : { resourceIds: ids }),
                ...(await ownAddressFields(me.organization.requireDetectedAddress)),
              };
              await start(body, onMoved);
            }}
          />
        </div>
      </Stack>
    </Notice>
  );
}
