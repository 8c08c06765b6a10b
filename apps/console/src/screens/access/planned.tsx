import { api, Failure, type Schemas } from '../../api';
import { opened } from '../../parts/session-actions';
import { count } from '../../parts/words';
import { Dialog, Facts, Form, Time } from '../../ui';
import type { Body } from './starting';

type Plan = Schemas['SessionPlanDto'];
type Outcome = Schemas['PlannedRuleDto']['outcome'];

/** A start that was planned, and waits to be confirmed. */
export interface Planned {
  readonly request: Body;
  readonly plan: Plan;
}

/** @throws Failure what the start would be refused with */
export async function planStart(request: Body): Promise<Planned> {
  const plan = (await api.POST('/api/v1/sessions/plan', { body: request })).data!;
  const { refusal } = plan;
  if (refusal) throw new Failure(refusal.message, refusal.status, refusal.error, refusal.validationErrors);
  return { request, plan };
}

/** @returns such as "118 rules on 40 resources"; null: there are none */
function rulesOf({ resources }: Plan, outcome: Outcome): string | null {
  const touched = resources
    .map(({ rules }) => rules.filter((rule) => rule.outcome === outcome).length)
    .filter((rules) => rules > 0);
  if (touched.length === 0) return null;
  const rules = touched.reduce((sum, each) => sum + each, 0);
  return `${count(rules, 'rule')} on ${count(touched.length, 'resource')}`;
}

interface PlannedStartProps extends Planned {
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

/** What a start of many resources would do, before it does. */
export const PlannedStart = ({ request, plan, onStarted, onClose }: PlannedStartProps) => (
  <Dialog title={`Open ${count(plan.resources.length, 'resource')}?`} onClose={onClose}>
    <Form
      submit="Let me in"
      busy="Opening…"
      announcement={() => 'The access is open.'}
      onCancel={onClose}
      send={() =>
        opened(request, (id) => {
          onClose();
          onStarted(id);
        })
      }
    >
      <Facts
        of={{
          Address: [plan.ipv4Address, plan.ipv6Address].filter(Boolean).join(' and '),
          Opens: rulesOf(plan, 'OPENS'),
          'Open already': rulesOf(plan, 'SHARED'),
          'Let in by other rules': rulesOf(plan, 'ALREADY_OPEN'),
          'No room for': rulesOf(plan, 'FULL'),
          'Perhaps no room for': rulesOf(plan, 'MAY_BE_FULL'),
          'The last one after': plan.waitSeconds ? `about ${plan.waitSeconds} s` : null,
          Closes: plan.closes.length > 0 ? count(plan.closes.length, 'rule') : null,
          Until: <Time at={plan.expiresAt} none="unknown" />,
        }}
      />
    </Form>
  </Dialog>
);
